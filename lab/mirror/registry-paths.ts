/**
 * Where a mirror keeps an image so that it can be pulled: each repository with its manifests and blobs below the name of
 * its registry. The underscores cannot be part of a repository's name, so nothing here can be mistaken for one.
 */
export const registryDirectory = 'registry'

export function tagPath(image: string): string {
  const { host, name, tag } = parseImageName(image)
  return filePath(host, { kind: 'manifests', name, reference: tag })
}

export function contentPath(image: string, kind: Wanted['kind'], digest: string): string {
  const { host, name } = parseImageName(image)
  return filePath(host, { kind, name, reference: digest })
}

/** What a client wants of a repository. A manifest goes by a tag or its digest, a blob by its digest alone. */
export interface Wanted {
  readonly kind: 'manifests' | 'blobs'
  readonly name: string
  readonly reference: string
}

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const digest = 'sha256:[a-f0-9]{64}'
const wantedPath = new RegExp(
  `^/v2/(?<name>${component}(?:/${component})*)/(?:manifests/(?<manifest>\\w[\\w.-]{0,127}|${digest})|blobs/(?<blob>${digest}))$`,
)

/** Reads the path of a request as the OCI distribution API means it, as far as pulling goes. */
export function parseWanted(path: string): Wanted | undefined {
  const { name, manifest, blob } = wantedPath.exec(path)?.groups ?? {}
  if (name === undefined) return undefined
  if (manifest !== undefined) return { kind: 'manifests', name, reference: manifest }
  return blob === undefined ? undefined : { kind: 'blobs', name, reference: blob }
}

/**
 * The files that would answer, best first. A path names no registry: containerd says in `ns` which one the mirror
 * stands in for, and of a client that does not, any registry's repository of that name will do.
 */
export function wantedFiles(wanted: Wanted, registries: readonly string[], ns: string | null): string[] {
  return registries.filter((host) => ns === null || host === ns).map((host) => filePath(host, wanted))
}

function filePath(host: string, { kind, name, reference }: Wanted): string {
  return `${registryDirectory}/${host}/${name}/_${kind}/${reference}`
}

function parseImageName(image: string): { host: string; name: string; tag: string } {
  const [, host, name, tag] = /^([^/]+)\/(.+):([^:/]+)$/.exec(image) ?? []
  if (host === undefined || name === undefined || tag === undefined) {
    throw new Error(`${image} is not a registry, a name and a tag`)
  }
  return { host, name, tag }
}
