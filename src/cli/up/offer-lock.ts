import { archSchema } from '../../catalog/artifacts.ts'
import { type Catalog, findKubernetesRelease } from '../../catalog/catalog.ts'
import { checkLock } from '../../catalog/check-lock.ts'
import type { Lock } from '../../catalog/lock.ts'
import { formatCount } from '../../kit/text.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { buildLockPath } from '../../workspace/cluster-paths.ts'
import { selectImages } from '../../workspace/cluster-registry.ts'
import { loadCatalog } from '../../workspace/load-catalog.ts'
import { loadLock } from '../../workspace/load-lock.ts'
import { findUnpinnedChart, listCharts, pinCharts } from '../../workspace/pin-charts.ts'
import { listTargets, resolveClusterLock, writeLock } from '../../workspace/resolve-cluster-lock.ts'
import type { CommandContext, GlobalOptions } from '../command/command.ts'
import { choosePrompts } from '../command/prompts.ts'

/**
 * Offers to create a missing or outdated cluster.lock. Without a terminal or a confirmation nothing changes,
 * and the command then reports the problem of the lock.
 */
export async function offerLock(
  context: CommandContext,
  options: GlobalOptions,
  cluster: Cluster,
): Promise<void> {
  const prompts = choosePrompts(context, options)
  if (prompts === undefined) return
  const lock = await loadLock(context, options.file)
  const targets = listTargets(cluster, listArches(lock))
  const file = buildLockPath(options.file)
  const problem =
    lock === undefined
      ? `${file} does not exist`
      : (findProblem(cluster, await loadCatalog(context, options.file), lock, targets) ??
        findUnpinnedChart(lock, (await pinCharts(context, options.file, cluster)) ?? {}))
  if (problem === undefined) return
  const message = `${problem}. Look up versions and checksums, and write ${file}?`
  if (!(await prompts.confirm({ message, fallback: true }))) return
  const report = (line: string): void => void context.stderr.write(`${line}\n`)
  const lockOptions = { files: options, cluster, targets, previous: lock, acceptChangedDigests: false }
  const resolved = await resolveClusterLock(context, lockOptions, report)
  await writeLock(context, file, resolved, report)
}

/** Lists the architectures that a lock pins for Linux. A new lock pins amd64, as `hyperkube lock` does. */
function listArches(lock: Lock | undefined): Parameters<typeof listTargets>[1] {
  const pinned = lock?.artifacts.flatMap(({ os, arch }) => (os === 'linux' ? [arch] : [])) ?? []
  return pinned.length === 0 ? ['amd64'] : archSchema.options.filter((arch) => pinned.includes(arch))
}

function findProblem(
  cluster: Cluster,
  catalog: Catalog,
  lock: Lock,
  targets: ReturnType<typeof listTargets>,
): string | undefined {
  const { kubernetes, heldUpgrade } = cluster.spec
  const release = findKubernetesRelease(catalog, kubernetes)
  const held = heldUpgrade && findKubernetesRelease(catalog, heldUpgrade.to)
  const images = selectImages(cluster, release.images)
  const [first, ...others] = checkLock(lock, {
    release,
    held,
    targets,
    helm: listCharts(cluster).length > 0,
    images,
  })
  if (first === undefined) return undefined
  return others.length === 0
    ? first.message
    : `${first.message}, and ${formatCount(others.length, 'other difference')}`
}
