/** A full image reference: registry.k8s.io/pause:3.10.2@sha256:… */
export interface ImageReference {
  /** Registry name in the reference. A mirror may be contacted instead of this registry. */
  readonly registry: string
  readonly repository: string
  readonly tag: string | undefined
  /** Digest with its algorithm: sha256:… */
  readonly digest: string | undefined
}

export const imageDigest = /^sha256:[0-9a-f]{64}$/

const fullReference =
  /^(?<registry>[^/@\s]+)\/(?<repository>[^:@\s]+)(?::(?<tag>\w[\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$/

/**
 * Parses a full image reference. Returns undefined for a reference without a registry, because each runtime
 * has its own default registry.
 */
export function parseImage(text: string): ImageReference | undefined {
  const { registry, repository, tag, digest } = fullReference.exec(text)?.groups ?? {}
  return registry === undefined || repository === undefined
    ? undefined
    : { registry, repository, tag, digest }
}

/**
 * Removes the digest from a reference. A runtime finds the sandbox image only by its name without a digest.
 */
export function stripDigest(text: string): string {
  return text.replace(/@sha256:[0-9a-f]{64}$/, '')
}

/** Pins a reference to a digest, so that a moved tag cannot change the image. */
export function pinDigest(text: string, digest: string): string {
  return `${stripDigest(text)}@${digest}`
}

/** Lists the names under which a runtime stores an image: by digest and by tag. */
export function listRuntimeNames(text: string): readonly string[] {
  const image = parseImage(text)
  if (image?.digest === undefined) return [text]
  const { registry, repository, tag, digest } = image
  const name = `${registry}/${repository}`
  return [`${name}@${digest}`, ...(tag === undefined ? [] : [`${name}:${tag}`])]
}

/** API host of registries whose API is not on the host that image names contain. */
const apiHosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' }

/** Returns the host as URLs of https contain it: in lower case, and without the port 443. */
export function toUrlHost(host: string): string {
  return URL.parse(`https://${host}`)?.host ?? host
}

/** Returns the host of a registry's API. containerd looks for the login of a registry by this name. */
export function registryApiHost(registry: string): string {
  return apiHosts[registry] ?? registry
}
