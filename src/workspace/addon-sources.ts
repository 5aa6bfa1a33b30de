import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import type { UserAddon } from '../spec/addons.ts'
import type { Cluster } from '../spec/cluster.ts'
import { type ClusterWeb, type ClusterWebContext, openClusterWeb } from './cluster-web.ts'
import type { ClusterFiles, WorkspaceContext } from './context.ts'

type AddonSourceDeps = ClusterWebContext & Pick<WorkspaceContext, 'listDirectory' | 'signal'>
type SourceText = readonly [name: string, text: string]

/** Maximum size of a manifest. Manifests that people write are much smaller. */
const maxManifestBytes = 20_000_000
const manifestPattern = /\.(?:ya?ml|json)$/

/**
 * Reads the manifests of enabled user addons. The keys of the result are paths as in cluster.yml, or URLs. A
 * missing file is left out and becomes a finding later.
 */
export async function readAddonSources(
  deps: AddonSourceDeps,
  clusterFiles: ClusterFiles,
  cluster: Cluster,
): Promise<ReadonlyMap<string, string>> {
  const enabled = cluster.spec.addons.filter(({ enabled: isEnabled }) => isEnabled)
  const files = new Set(enabled.flatMap((addon) => addon.files))
  const local = [...files].map(async (name) => readLocal(deps, clusterFiles.file, name))
  const all = await Promise.all([...local, readRemote(deps, clusterFiles, cluster, enabled)])
  return new Map(all.flat())
}

/** Downloads manifests. The connections are opened only if an addon has a URL. */
async function readRemote(
  deps: AddonSourceDeps,
  clusterFiles: ClusterFiles,
  cluster: Cluster,
  enabled: readonly UserAddon[],
): Promise<SourceText[]> {
  if (enabled.every(({ urls }) => urls.length === 0)) return []
  const { fetcher } = await openClusterWeb(deps, clusterFiles, cluster)
  const { signal } = deps
  const fetched = enabled.flatMap(({ name, urls }) =>
    urls.map(async (url) => fetchRemote({ fetcher, signal }, name, url)),
  )
  return Promise.all(fetched)
}

/** Reads a file, or all manifests of a directory. */
async function readLocal(
  { readFile, listDirectory }: AddonSourceDeps,
  clusterFile: string,
  name: string,
): Promise<SourceText[]> {
  const path = join(dirname(clusterFile), name)
  try {
    return [[name, await readFile(path)]]
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    if (!hasCode(error, 'EISDIR')) throw error
  }
  const members = (await listDirectory(path)).filter((member) => manifestPattern.test(member))
  return Promise.all(
    members.map(async (member): Promise<SourceText> => [
      join(name, member),
      await readFile(join(path, member)),
    ]),
  )
}

async function fetchRemote(
  { fetcher, signal }: Pick<ClusterWeb, 'fetcher'> & Pick<AddonSourceDeps, 'signal'>,
  addon: string,
  { url, sha256 }: UserAddon['urls'][number],
): Promise<SourceText> {
  const text = await fetcher.text(url, maxManifestBytes, signal)
  const actualSha256 = createHash('sha256').update(text).digest('hex')
  if (actualSha256 === sha256) return [url, text]
  throw new HyperkubeError(
    'ADDON_SOURCE_CHANGED',
    `addon ${addon}: the SHA-256 of ${url} is ${actualSha256}, but cluster.yml has ${sha256}`,
    {
      hint: `review the file: curl -fL ${url}; to accept it, set its sha256 in cluster.yml to ${actualSha256}`,
    },
  )
}
