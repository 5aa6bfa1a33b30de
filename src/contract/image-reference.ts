/** An image as it is named in full: registry.k8s.io/pause:3.10.2@sha256:… */
export interface ImageReference {
  /** As it stands in names, which need not be where it answers. */
  readonly registry: string
  readonly repository: string
  readonly tag: string | undefined
  /** With its algorithm: sha256:… */
  readonly digest: string | undefined
}

export const imageDigest = /^sha256:[0-9a-f]{64}$/

const full =
  /^(?<registry>[^/@\s]+)\/(?<repository>[^:@\s]+)(?::(?<tag>\w[\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$/

/** Nothing when the text is no name in full: without a registry, it means something else to each who reads it. */
export function parseImage(text: string): ImageReference | undefined {
  const { registry, repository, tag, digest } = full.exec(text)?.groups ?? {}
  return registry === undefined || repository === undefined
    ? undefined
    : { registry, repository, tag, digest }
}

/** The name by which people know it; a runtime finds the image of a sandbox by this one alone. */
export function withoutDigest(text: string): string {
  return text.replace(/@sha256:[0-9a-f]{64}$/, '')
}

/** The same image, and no other that may come to bear its name. */
export function withDigest(text: string, digest: string): string {
  return `${withoutDigest(text)}@${digest}`
}

/**
 * The names under which a runtime keeps an image: by its tag, and by its digest. A reference with both is looked for by
 * the digest alone.
 */
export function keptNames(text: string): readonly string[] {
  const image = parseImage(text)
  if (image?.digest === undefined) return [text]
  const { registry, repository, tag, digest } = image
  const name = `${registry}/${repository}`
  return [`${name}@${digest}`, ...(tag === undefined ? [] : [`${name}:${tag}`])]
}
