import { dirname } from 'node:path'
import { extractLock } from '../bundle/lock.ts'
import { isUnencrypted } from '../catalog/artifact-source.ts'
import type { Arch, ArtifactTarget } from '../catalog/artifacts.ts'
import { type Catalog, findKubernetesRelease, listDefaultVersions } from '../catalog/catalog.ts'
import { checkLock, findOlderCatalog } from '../catalog/check-lock.ts'
import { type AcceptDigestsOptions, checkReplacedDigests, compareLocks } from '../catalog/compare-locks.ts'
import type { Fetcher } from '../catalog/fetcher.ts'
import { findPins, selectPins, formatLock, type Lock, type LockPins } from '../catalog/lock.ts'
import { describeLockTrust, listLockTrust } from '../catalog/lock-trust.ts'
import type { Registry } from '../catalog/registry/registry.ts'
import { digestRefusedHint, resolveLock, type ResolveLockOptions } from '../catalog/resolve-lock.ts'
import { buildSigningKey } from '../identity/signing-key.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import { type Cluster, readWorkersVersion } from '../spec/cluster.ts'
import { createClusterRegistry, hasUnencryptedMirror, selectImages } from './cluster-registry.ts'
import { openClusterWeb } from './cluster-web.ts'
import type { ClusterFiles, WorkspaceContext } from './context.ts'
import { loadCatalog } from './load-catalog.ts'
import { openIdentity } from './load-identity.ts'
import { openClusterBundle } from './open-cluster-bundle.ts'
import { checkBundledCharts, listCharts, pinCharts } from './pin-charts.ts'

/** Receives a line of progress, for example about a file that was written. */
export type ReportLine = (line: string) => void

/** Lists the combinations of OS and architecture for which the cluster needs artifacts. */
export function listTargets({ spec }: Cluster, arches: readonly Arch[]): readonly ArtifactTarget[] {
  const hasOs = (os: ArtifactTarget['os']): boolean => spec.hosts.some((host) => host.os === os)
  return [
    ...(hasOs('linux') ? arches.map((arch): ArtifactTarget => ({ os: 'linux', arch: arch })) : []),
    ...(hasOs('windows') ? [{ os: 'windows', arch: 'amd64' } as const] : []),
  ]
}

export interface ClusterLockOptions extends AcceptDigestsOptions {
  readonly files: ClusterFiles
  readonly cluster: Cluster
  readonly targets: readonly ArtifactTarget[]
  /** The existing lock, whose digests must not change without a new version. */
  readonly previous: Lock | undefined
  /** Whether the catalog may be older than that of the existing lock. */
  readonly acceptOlderCatalog?: boolean
}

/**
 * Resolves the lock of a cluster and reports how its digests were verified. Throws if content changed without
 * a new version.
 */
export async function resolveClusterLock(
  context: WorkspaceContext,
  options: ClusterLockOptions,
  report: ReportLine,
): Promise<Lock> {
  const { cluster, previous } = options
  const catalog = await loadCatalog(context, options.files.file)
  checkCatalogAge(options, catalog)
  const lock = await resolveDigests(context, options, catalog, report)
  for (const line of describeLockTrust(listLockTrust(lock, await context.releaseDigests())))
    report(toPrintable(line))
  const workers = readWorkersVersion(cluster)
  const charts = await pinCharts(context, options.files.file, cluster)
  const resolved = {
    ...lock,
    ...(workers === lock.kubernetes
      ? {}
      : { workers: await resolveWorkersPins(context, options, catalog, report) }),
    ...(charts === undefined ? {} : { charts }),
  }
  checkReplacedDigests(compareLocks(previous, resolved), options)
  return resolved
}

/**
 * Resolves the pins of workers that have another version than control planes. If the previous lock pins that
 * version, its pins are kept, because workers already run this content.
 */
async function resolveWorkersPins(
  context: WorkspaceContext,
  options: ClusterLockOptions,
  catalog: Catalog,
  report: ReportLine,
): Promise<LockPins> {
  const version = readWorkersVersion(options.cluster)
  const known = options.previous === undefined ? undefined : findPins(options.previous, version)
  const release = findKubernetesRelease(catalog, version)
  const { cluster: current, targets } = options
  // Pins of an older release of hyperkube may lack a component that this release needs.
  const isComplete = (pins: LockPins): boolean =>
    checkLock(pins, { release, targets, images: {} }).every(({ code }) => code !== 'LOCK_MISSING_ARTIFACT')
  if (known !== undefined && isComplete(known)) return known
  const { spec } = current
  const cluster = { ...options.cluster, spec: { ...spec, kubernetes: version } }
  return selectPins(await resolveDigests(context, { ...options, cluster }, catalog, report))
}

/** Throws if the catalog is older than that of the existing lock, unless the operator accepts it. */
function checkCatalogAge({ previous, acceptOlderCatalog }: ClusterLockOptions, { source }: Catalog): void {
  const problem = previous && findOlderCatalog(previous, source)
  if (problem === undefined || acceptOlderCatalog === true) return
  throw new HyperkubeError(problem.code, problem.message, { hint: problem.hint ?? '' })
}

/**
 * Resolves the digests of all artifacts and images of a cluster. If the cluster has a bundle, they are read
 * from the bundle, otherwise from the network.
 */
async function resolveDigests(
  context: WorkspaceContext,
  { files, cluster, targets }: ClusterLockOptions,
  catalog: Catalog,
  report: ReportLine,
): Promise<Lock> {
  const release = findKubernetesRelease(catalog, cluster.spec.kubernetes)
  const images = selectImages(cluster, release.images)
  const { artifacts, heldUpgrade } = cluster.spec
  const helm = listCharts(cluster).length > 0
  if (artifacts === 'upstream' || !('bundle' in artifacts)) {
    return resolveFromNetwork(
      context,
      { files, cluster },
      {
        release,
        held: heldUpgrade && findKubernetesRelease(catalog, heldUpgrade.to),
        targets,
        source: artifacts,
        helm,
        images,
        digests: hasOwnBuilds(artifacts) ? undefined : await context.releaseDigests(),
      },
      listDefaultVersions(catalog),
      report,
    )
  }
  const { publicKey } = buildSigningKey(await openIdentity(context, files, cluster.metadata.name))
  await using bundle = await openClusterBundle(context, files.file, cluster, publicKey)
  if (bundle === undefined) throw new Error('spec.artifacts has a bundle, but no bundle was opened')
  checkBundledCharts(bundle.manifest, cluster)
  return extractLock(bundle.manifest, { release, targets, images, helm })
}

function hasOwnBuilds(artifacts: Cluster['spec']['artifacts']): boolean {
  return artifacts !== 'upstream' && 'mirror' in artifacts && artifacts.digests === 'mirror'
}

async function resolveFromNetwork(
  context: WorkspaceContext,
  { files, cluster }: Pick<ClusterLockOptions, 'files' | 'cluster'>,
  options: ResolveLockOptions,
  defaults: readonly string[],
  report: ReportLine,
): Promise<Lock> {
  const { signal } = context
  if (isUnencrypted(options.source) || hasUnencryptedMirror(cluster)) {
    report('warning: the mirror is not encrypted; an attacker on the network can choose what is pinned')
  }
  const web = await openClusterWeb(context, files, cluster)
  const registry = logRegistryReads(createClusterRegistry(web, cluster), report)
  try {
    return await resolveLock(options, { fetcher: logFetches(web.fetcher, report), registry }, signal)
  } catch (error) {
    const refusal = findRefusal(error)
    if (refusal !== undefined) throw refusal
    if (!(error instanceof AggregateError)) throw error
    throw new HyperkubeError(
      'LOCK_NOT_RESOLVED',
      'cannot resolve all versions and checksums; cluster.lock was not written',
      { hint: suggestFix(error, options.release.kubernetes, defaults), cause: error },
    )
  }
}

/** Codes of settings that cluster.yml lacks. They explain all other failures of a lock. */
const refusalCodes: ReadonlySet<string> = new Set([
  'PROXY_LOGIN_REFUSED',
  'PROXY_REFUSED',
  'FETCH_CA_UNKNOWN',
  'REGISTRY_LOGIN_REFUSED',
  'REGISTRY_NO_TOKEN',
])

/** Finds the first refusal of a proxy or a server among the failures. Mirrors come before registries. */
function findRefusal(error: unknown): HyperkubeError | undefined {
  if (error instanceof HyperkubeError && refusalCodes.has(error.code)) return error
  const causes = [
    ...(error instanceof AggregateError ? error.errors : []),
    ...(error instanceof Error ? [error.cause] : []),
  ]
  for (const cause of causes) {
    const found = cause === undefined ? undefined : findRefusal(cause)
    if (found !== undefined) return found
  }
  return undefined
}

function suggestFix({ errors }: AggregateError, version: string, defaults: readonly string[]): string {
  const isRefused = errors.some((one) => one instanceof HyperkubeError && one.code === 'LOCK_DIGEST_REFUSED')
  if (isRefused) return digestRefusedHint
  return defaults.includes(version)
    ? 'check the network; without internet access, set mirrors in spec.artifacts (files) and spec.registries (images)'
    : `check that the source has Kubernetes ${version}, or set spec.kubernetes to a version of the catalog: ${defaults.join(', ')}`
}

function logFetches(fetcher: Fetcher, report: ReportLine): Fetcher {
  return {
    async text(url, limit, signal) {
      report(toPrintable(`reading ${url}`))
      return fetcher.text(url, limit, signal)
    },
    async sha256(url, limit, signal) {
      report(toPrintable(`downloading ${url} to compute its checksum; upstream publishes none`))
      return fetcher.sha256(url, limit, signal)
    },
  }
}

function logRegistryReads(registry: Registry, report: ReportLine): Registry {
  return {
    ...registry,
    async manifest(image, signal) {
      const { registry: host, repository, tag } = image
      report(toPrintable(`reading the digest of ${host}/${repository}:${tag}`))
      return registry.manifest(image, signal)
    },
  }
}

export async function writeLock(
  { replaceFile }: Pick<WorkspaceContext, 'replaceFile'>,
  file: string,
  content: Lock,
  report: ReportLine,
): Promise<void> {
  await replaceFile(file, formatLock(content), 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('LOCK_NOT_WRITTEN', `cannot write ${file}`, {
      hint: `check permissions and free space: ls -ld ${dirname(file)}; df -h ${dirname(file)}`,
      cause,
    })
  })
  report(`wrote ${file}; commit it`)
}
