/** A full image reference: registry.k8s.io/pause:3.10.2@sha256:… */
export interface ImageReference {
  /** The registry in the reference, which need not be the server that is contacted. */
  readonly registry: string
  readonly repository: string
  readonly tag: string | undefined
  /** With its algorithm: sha256:… */
  readonly digest: string | undefined
}

export const imageDigest = /^sha256:[0-9a-f]{64}$/

const fullReference =
  /^(?<registry>[^/@\s]+)\/(?<repository>[^:@\s]+)(?::(?<tag>\w[\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$/

/**
 * Returns undefined if the text is not a full reference: without a registry, its meaning depends on the
 * reader.
 */
export function parseImage(text: string): ImageReference | undefined {
  const { registry, repository, tag, digest } = fullReference.exec(text)?.groups ?? {}
  return registry === undefined || repository === undefined
    ? undefined
    : { registry, repository, tag, digest }
}

/** The reference without its digest. A runtime finds the sandbox image by this name only. */
export function stripDigest(text: string): string {
  return text.replace(/@sha256:[0-9a-f]{64}$/, '')
}

/** Pins a reference to a digest, so that a moved tag cannot change the image. */
export function pinDigest(text: string, digest: string): string {
  return `${stripDigest(text)}@${digest}`
}

/**
 * Names under which a runtime stores an image: by tag and by digest. A reference with both is looked up by
 * digest only.
 */
export function listRuntimeNames(text: string): readonly string[] {
  const image = parseImage(text)
  if (image?.digest === undefined) return [text]
  const { registry, repository, tag, digest } = image
  const name = `${registry}/${repository}`
  return [`${name}@${digest}`, ...(tag === undefined ? [] : [`${name}:${tag}`])]
}
