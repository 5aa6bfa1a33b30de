import { dirname, join } from 'node:path'
import packageFile from '../../package.json' with { type: 'json' }
import type { ClusterFiles, WorkspaceContext } from './context.ts'
import type { Identity } from '../identity/identity.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { toolNames } from '../lifecycle/adoption/checks/check.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import type { Cluster } from '../spec/cluster.ts'
import { listCaFiles } from '../spec/download-route.ts'
import { readOidcFlags } from '../spec/oidc.ts'
import { readAddonSources } from './addon-sources.ts'
import { formatFileFlag } from './cluster-paths.ts'
import { loadCatalog } from './load-catalog.ts'
import { openIdentity } from './load-identity.ts'
import { requireLock } from './load-lock.ts'
import { renderCharts } from './render-charts.ts'

export interface LoadOptions {
  /** True if the command may run while the hosts of an adopted cluster can still return to the other tool. */
  readonly beforeCommit?: boolean
}

/** Loads all files of a cluster: lock, identity, attachments and addon sources. */
export async function loadClusterInputs(
  context: WorkspaceContext,
  options: ClusterFiles,
  cluster: Cluster,
  { beforeCommit = false }: LoadOptions = {},
): Promise<ClusterInputs> {
  const lock = await requireLock(context, options.file)
  const identity = await openIdentity(context, options, cluster.metadata.name)
  checkAdoption(identity, options, beforeCommit)
  return {
    cluster,
    catalog: await loadCatalog(context, options.file),
    lock,
    identity,
    attachments: await readAttachments(context, options.file, cluster),
    sources: await readAddonSources(context, options, cluster),
    charts: await renderCharts(context, { files: options, cluster, lock }, async () => identity.secrets),
    version: () => packageFile.version,
  }
}

/**
 * Loads what a reset needs. The lock and the files that cluster.yml refers to are not needed, because agents
 * know what they have installed. The loss of these files must not prevent a reset.
 */
export async function loadResetInputs(
  context: WorkspaceContext,
  options: ClusterFiles,
  cluster: Cluster,
  { beforeCommit = false }: LoadOptions = {},
): Promise<ClusterInputs> {
  const { kubernetes } = cluster.spec
  const identity = await openIdentity(context, options, cluster.metadata.name)
  checkAdoption(identity, options, beforeCommit)
  return {
    cluster,
    catalog: await loadCatalog(context, options.file),
    lock: { apiVersion: 'hyperkube.dev/v1', kind: 'Lock', kubernetes, artifacts: [], images: {} },
    identity,
    attachments: new Map(),
    sources: new Map(),
    charts: new Map(),
    version: () => packageFile.version,
  }
}

/** Refuses a command before its first change if the hosts of an adopted cluster can still return to the other tool. */
export async function requireCommitted(
  context: WorkspaceContext,
  options: ClusterFiles,
  { metadata }: Cluster,
): Promise<void> {
  checkAdoption(await openIdentity(context, options, metadata.name), options, false)
}

/** Refuses changes of an adopted cluster that would make a rollback to the other tool impossible. */
function checkAdoption(
  { adoption, metadata }: Identity,
  { file }: ClusterFiles,
  beforeCommit: boolean,
): void {
  if (adoption === undefined || adoption.committed !== undefined) return
  if (beforeCommit) return
  throw new HyperkubeError(
    'ADOPT_NOT_COMMITTED',
    `the hosts of ${metadata.name} can still return to ${toolNames[adoption.from]}, and this command could prevent that`,
    {
      hint: `to stay with hyperkube: hyperkube adopt commit${formatFileFlag(file)}; to return: hyperkube adopt rollback${formatFileFlag(file)}`,
    },
  )
}

/**
 * Reads the files that cluster.yml refers to. The keys of the result are the paths as in cluster.yml. A
 * missing file is left out and becomes a finding later.
 */
async function readAttachments(
  { readFile }: Pick<WorkspaceContext, 'readFile'>,
  clusterFile: string,
  cluster: Cluster,
): Promise<ReadonlyMap<string, string>> {
  const { spec } = cluster
  const { policy } = spec.security.audit
  const oidc = readOidcFlags(spec.components.apiServer.args)
  const names = new Set([
    ...(policy === undefined ? [] : [policy]),
    ...(oidc?.caFile === undefined ? [] : [oidc.caFile]),
    ...listCaFiles(cluster).map(({ file }) => file),
    ...spec.hosts.flatMap(({ files }) => files.flatMap(({ source }) => source ?? [])),
  ])
  const read = [...names].map(async (name) => {
    try {
      return [[name, await readFile(join(dirname(clusterFile), name))] as const]
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return []
      throw error
    }
  })
  return new Map((await Promise.all(read)).flat())
}
