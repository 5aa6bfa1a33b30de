import { type Catalog, findKubernetesRelease } from '../catalog/catalog.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import { exceedsSkew } from '../catalog/upgrade-steps.ts'
import { compareVersions } from '../catalog/version.ts'
import { formatError, hasCode, HyperkubeError } from '../kit/errors.ts'
import { maxKubeletSkew } from '../kit/version-skew.ts'
import type { ClusterRule, Problem } from '../spec/check-cluster.ts'
import { type Cluster, isWorkerHost, readWorkersVersion } from '../spec/cluster.ts'
import { type Path, readDocument, type SourceText } from '../spec/document.ts'
import { readClusterDocument, type ReadClusterResult } from '../spec/read-cluster.ts'
import type { LocalFiles } from './context.ts'
import { findFlagProblems } from './flag-problems.ts'
import { checkHeldUpgrade } from './held-upgrade-rule.ts'
import { loadCatalog } from './load-catalog.ts'
import { createFleetReader, loadFleetOf, type ReadFleetFile } from './load-fleet.ts'

export interface LoadedCluster extends ReadClusterResult {
  readonly catalog: Catalog
}

/** Reads and checks cluster.yml, also against its catalog and the controllers of this release. */
export async function loadCluster(
  context: Pick<LocalFiles, 'readFile'>,
  file: string,
  readFleet: ReadFleetFile = createFleetReader(context),
): Promise<LoadedCluster> {
  const source = await readClusterSource(context, file)
  const catalog = await loadCatalog(context, file)
  return { ...(await readCheckedCluster(context, source, catalog, readFleet)), catalog }
}

/** Checks the text of cluster.yml together with the values of its fleet. */
export async function readCheckedCluster(
  files: Pick<LocalFiles, 'readFile'>,
  source: SourceText,
  catalog: Catalog,
  readFleet?: ReadFleetFile,
): Promise<ReadClusterResult> {
  // Loading the controllers is slow. Their rules are needed only if cluster.yml mentions controllers or
  // snapshots.
  const mentionsControllers = /controllers|snapshots|fleet/.test(source.text)
  const extraRules = mentionsControllers ? (await import('./controller-rules.ts')).controllerRules : []
  return readWithFleet(files, source, [...buildCatalogRules(catalog), ...extraRules], readFleet)
}

/** Reads the text of cluster.yml together with the values of its fleet. */
export async function readWithFleet(
  files: Pick<LocalFiles, 'readFile'>,
  source: SourceText,
  rules: readonly ClusterRule[] = [],
  readFleet: ReadFleetFile = createFleetReader(files),
): Promise<ReadClusterResult> {
  const result = readDocument(source)
  if (!result.ok) return { cluster: undefined, findings: result.findings, inherited: [] }
  const fleet = await loadFleetOf(readFleet, source.file, result.document)
  return fleet.ok
    ? readClusterDocument(result.document, rules, fleet.fleet)
    : { cluster: undefined, findings: fleet.findings, inherited: [] }
}

function buildCatalogRules(catalog: Catalog): readonly ClusterRule[] {
  return [
    (cluster) => checkVersions(catalog, cluster),
    checkWorkersVersion,
    (cluster) => checkFlags(catalog, cluster),
    (cluster) => checkHeldUpgrade(catalog, cluster),
    () => checkCatalogAge(catalog),
  ]
}

function checkVersions(catalog: Catalog, cluster: Pick<Cluster, 'spec'>): Problem[] {
  const { kubernetes, workers } = cluster.spec
  return [
    ...checkVersion(catalog, kubernetes, ['spec', 'kubernetes']),
    ...(workers.kubernetes === undefined
      ? []
      : checkVersion(catalog, workers.kubernetes, ['spec', 'workers', 'kubernetes'])),
  ]
}

function checkVersion(catalog: Catalog, version: string, path: Path): Problem[] {
  try {
    findKubernetesRelease(catalog, version)
    return []
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    const { code, hint } = error
    return [
      { code, severity: 'error', path, message: formatError(error), ...(hint === undefined ? {} : { hint }) },
    ]
  }
}

/** Checks that the version of workers fits Kubernetes' skew policy, and that the source has both versions. */
function checkWorkersVersion({ spec }: Cluster): Problem[] {
  const { kubernetes, workers, artifacts } = spec
  if (workers.kubernetes === undefined) return []
  const path = ['spec', 'workers', 'kubernetes']
  const problem = (code: string, message: string, hint: string): Problem[] => [
    { code, severity: 'error', path, message, hint },
  ]
  if (compareVersions(workers.kubernetes, kubernetes) > 0) {
    const message = `workers must not be newer than the control planes, which have ${kubernetes}`
    return problem('SPEC_WORKERS_VERSION', message, 'remove it, or set spec.kubernetes first')
  }
  if (exceedsSkew(kubernetes, workers.kubernetes)) {
    const message = `workers may be at most ${maxKubeletSkew} minors older than the control planes, which have ${kubernetes}`
    return problem('SPEC_WORKERS_VERSION', message, 'upgrade workers first: hyperkube upgrade --to VERSION')
  }
  if (workers.kubernetes !== kubernetes && artifacts !== 'upstream' && 'bundle' in artifacts) {
    const message = 'a bundle has the files of one Kubernetes version'
    return problem('SPEC_WORKERS_VERSION', message, 'remove it, or use a mirror in spec.artifacts')
  }
  return []
}

/**
 * Reports a catalog file that is older than the catalog of this release, because newer versions may be
 * missing in it.
 */
function checkCatalogAge({ source }: Catalog): Problem[] {
  if (source.serial >= shippedCatalog.source.serial) return []
  const message = `is valid, but cluster.catalog has the serial ${source.serial}, and this release of hyperkube has the newer catalog ${shippedCatalog.source.serial}`
  const hint = 'hyperkube catalog update; or use the catalog of the release: rm cluster.catalog'
  return [
    { code: 'CATALOG_BEHIND_RELEASE', severity: 'warning', path: ['spec', 'kubernetes'], message, hint },
  ]
}

function checkFlags(catalog: Catalog, cluster: Cluster): Problem[] {
  if (checkVersions(catalog, cluster).length > 0) return []
  const { spec } = cluster
  const { containerd: _, kubelet, kubeProxy, flanneld, kubeRouter, ...ofControlPlanes } = spec.components
  const workersVersion = readWorkersVersion(cluster)
  const path = ['spec', 'components']
  return [
    // These flags apply to all hosts. Every cluster has Linux hosts, so flags that exist only on Windows are
    // rejected.
    ...findFlagProblems(catalog, ofControlPlanes, path, spec.kubernetes, 'linux'),
    ...[...new Set([spec.kubernetes, workersVersion])].flatMap((version) =>
      findFlagProblems(catalog, { kubelet, kubeProxy, flanneld, kubeRouter }, path, version, 'linux'),
    ),
    ...spec.hosts.flatMap((host, index) =>
      findFlagProblems(
        catalog,
        host.components ?? {},
        ['spec', 'hosts', index, 'components'],
        isWorkerHost(host) ? workersVersion : spec.kubernetes,
        host.os,
      ),
    ),
  ]
}

/** The hint of an error about a missing cluster.yml of RKE1. */
export const missingRke1File = 'name the cluster.yml of RKE1 after --from-rke'

/** Reads the text of cluster.yml. Throws an error with a hint if it cannot be read. */
export async function readClusterSource(
  { readFile }: Pick<LocalFiles, 'readFile'>,
  file: string,
  missingHint = 'run the command in the directory of cluster.yml, or add -f FILE; for a new cluster: hyperkube init',
): Promise<SourceText> {
  try {
    return { file, text: await readFile(file) }
  } catch (cause) {
    const isMissing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError('SPEC_NOT_READ', `${file} ${isMissing ? 'does not exist' : 'cannot be read'}`, {
      hint: isMissing ? missingHint : `check the permissions: ls -l ${file}`,
      ...(isMissing ? {} : { cause }),
    })
  }
}
