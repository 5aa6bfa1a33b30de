/**
 * Directory in which a mirror stores images for pulling: repositories with manifests and blobs, below the
 * name of their registry. Repository names cannot start with an underscore, so `_manifests` and `_blobs` are
 * unambiguous.
 */
export const registryDirectory = 'registry'

export function tagPath(image: string): string {
  const { host, name, tag } = parseImageName(image)
  return filePath(host, { kind: 'manifests', name, reference: tag })
}

export function contentPath(image: string, kind: RegistryRequest['kind'], digest: string): string {
  const { host, name } = parseImageName(image)
  return filePath(host, { kind, name, reference: digest })
}

/**
 * What a client requests from a repository. A manifest is requested by tag or digest, a blob by digest only.
 */
export interface RegistryRequest {
  readonly kind: 'manifests' | 'blobs'
  readonly name: string
  readonly reference: string
}

const nameComponent = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const digest = 'sha256:[a-f0-9]{64}'
const requestPattern = new RegExp(
  `^/v2/(?<name>${nameComponent}(?:/${nameComponent})*)/(?:manifests/(?<manifest>\\w[\\w.-]{0,127}|${digest})|blobs/(?<blob>${digest}))$`,
)

/** Parses the path of an OCI distribution API request that pulls a manifest or blob. */
export function parseRegistryRequest(path: string): RegistryRequest | undefined {
  const { name, manifest, blob } = requestPattern.exec(path)?.groups ?? {}
  if (name === undefined) return undefined
  if (manifest !== undefined) return { kind: 'manifests', name, reference: manifest }
  return blob === undefined ? undefined : { kind: 'blobs', name, reference: blob }
}

/**
 * Lists the files that match a request. containerd names the mirrored registry in the query parameter `ns`.
 * Without `ns`, the repository of any registry matches.
 */
export function listCandidateFiles(
  request: RegistryRequest,
  registries: readonly string[],
  ns: string | null,
): string[] {
  return registries.filter((host) => ns === null || host === ns).map((host) => filePath(host, request))
}

function filePath(host: string, { kind, name, reference }: RegistryRequest): string {
  return `${registryDirectory}/${host}/${name}/_${kind}/${reference}`
}

function parseImageName(image: string): { host: string; name: string; tag: string } {
  const [, host, name, tag] = /^([^/]+)\/(.+):([^:/]+)$/.exec(image) ?? []
  if (host === undefined || name === undefined || tag === undefined) {
    throw new Error(`${image} is not a registry, a name and a tag`)
  }
  return { host, name, tag }
}
