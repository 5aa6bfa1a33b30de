import type { Os } from '../catalog/artifacts.ts'
import { type Catalog, findKubernetesRelease } from '../catalog/catalog.ts'
import { checkArgs } from '../catalog/check-args.ts'
import type { ProgramName } from '../catalog/program-flags.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import { formatError, hasCode, HyperkubeError } from '../kit/errors.ts'
import type { ClusterRule, Problem } from '../spec/check-cluster.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Path, SourceText } from '../spec/document.ts'
import { readCluster, type ReadClusterResult } from '../spec/read-cluster.ts'
import type { WorkspaceContext } from './context.ts'
import { loadCatalog } from './load-catalog.ts'

export interface LoadedCluster extends ReadClusterResult {
  readonly catalog: Catalog
}

/** Reads and checks cluster.yml, also against its catalog and the controllers of this release. */
export async function loadCluster(context: WorkspaceContext, file: string): Promise<LoadedCluster> {
  const source = await readClusterSource(context, file)
  const catalog = await loadCatalog(context, file)
  return { ...(await readCheckedCluster(source, catalog)), catalog }
}

export async function readCheckedCluster(source: SourceText, catalog: Catalog): Promise<ReadClusterResult> {
  // Loading the controllers is slow. Their rules are needed only if cluster.yml mentions controllers or
  // snapshots.
  const mentionsControllers = /controllers|snapshots/.test(source.text)
  const extraRules = mentionsControllers ? (await import('./controller-rules.ts')).controllerRules : []
  return readCluster(source, [...buildCatalogRules(catalog), ...extraRules])
}

function buildCatalogRules(catalog: Catalog): readonly ClusterRule[] {
  return [
    (cluster) => checkVersion(catalog, cluster),
    (cluster) => checkFlags(catalog, cluster),
    () => checkCatalogAge(catalog),
  ]
}

function checkVersion(catalog: Catalog, { spec }: Pick<Cluster, 'spec'>): Problem[] {
  try {
    findKubernetesRelease(catalog, spec.kubernetes)
    return []
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    const { code, hint } = error
    const path = ['spec', 'kubernetes']
    return [
      { code, severity: 'error', path, message: formatError(error), ...(hint === undefined ? {} : { hint }) },
    ]
  }
}

const programs: Readonly<Record<string, ProgramName>> = {
  etcd: 'etcd',
  apiServer: 'kube-apiserver',
  controllerManager: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
  kubelet: 'kubelet',
  kubeProxy: 'kube-proxy',
  flanneld: 'flanneld',
}

type WithArgs = Readonly<
  Record<string, { readonly args?: Readonly<Record<string, string>> | undefined } | undefined>
>

/** Reports a catalog file that is older than the catalog of this release, because it holds versions back. */
function checkCatalogAge({ source }: Catalog): Problem[] {
  if (source.serial >= shippedCatalog.source.serial) return []
  const message = `is valid, but cluster.catalog has the serial ${source.serial}, and this release of hyperkube has the newer catalog ${shippedCatalog.source.serial}`
  const hint = 'hyperkube catalog update; or use the catalog of the release: rm cluster.catalog'
  return [
    { code: 'CATALOG_BEHIND_RELEASE', severity: 'warning', path: ['spec', 'kubernetes'], message, hint },
  ]
}

function checkFlags(catalog: Catalog, { spec }: Cluster): Problem[] {
  if (checkVersion(catalog, { spec }).length > 0) return []
  const { containerd: _, ...withArgs } = spec.components
  const findFlagProblems = (components: WithArgs, path: Path, os: Os): Problem[] =>
    checkComponentFlags(catalog, spec.kubernetes, components, path, os)
  return [
    // These flags apply to all hosts. Every cluster has Linux hosts, so flags that exist only on Windows are
    // rejected.
    ...findFlagProblems(withArgs, ['spec', 'components'], 'linux'),
    ...spec.hosts.flatMap(({ components, os }, index) =>
      findFlagProblems(components ?? {}, ['spec', 'hosts', index, 'components'], os),
    ),
  ]
}

function checkComponentFlags(
  catalog: Catalog,
  version: string,
  components: WithArgs,
  path: Path,
  os: Os,
): Problem[] {
  return Object.entries(programs).flatMap(([name, program]) =>
    Object.entries(components[name]?.args ?? {}).flatMap(([flag, value]) =>
      checkArgs(catalog, program, { [flag]: value }, version, os).map(
        ({ code, severity, message, hint }) => ({
          code,
          severity,
          message,
          ...(hint === undefined ? {} : { hint }),
          path: [...path, name, 'args', flag],
        }),
      ),
    ),
  )
}

/** Reads the text of cluster.yml. Throws an error with a hint if it cannot be read. */
export async function readClusterSource({ readFile }: WorkspaceContext, file: string): Promise<SourceText> {
  try {
    return { file, text: await readFile(file) }
  } catch (cause) {
    const isMissing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError('SPEC_NOT_READ', `${file} ${isMissing ? 'does not exist' : 'cannot be read'}`, {
      hint: isMissing
        ? 'run the command in the directory of cluster.yml, or add -f FILE; for a new cluster: hyperkube init'
        : `check the permissions: ls -l ${file}`,
      ...(isMissing ? {} : { cause }),
    })
  }
}
