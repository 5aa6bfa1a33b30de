import type { Lock } from '../../catalog/lock.ts'
import type { Arch } from '../../catalog/artifact-target.ts'
import { buildLockPath } from '../cluster-paths.ts'
import type { CommandContext, ExitCode, Invocation } from '../command.ts'
import { requireLock } from '../load-lock.ts'
import { resolveClusterLock, listTargets, writeLock } from '../lock/resolve-cluster-lock.ts'
import { changeFileAndRunUp } from '../up/change-file.ts'
import { setScalar } from '../yaml-edit.ts'

/**
 * Upgrades a cluster to a version: resolves the new lock, shows the changes, and applies them. The lock is
 * written together with cluster.yml, so `up` can resume an interrupted upgrade.
 */
export async function upgradeCluster(
  context: CommandContext,
  options: Invocation['options'],
  version: string,
): Promise<ExitCode> {
  const { file } = options
  const change = (text: string): string => setScalar(text, ['spec'], 'kubernetes', `"${version}"`)
  return changeFileAndRunUp(context, options, change, async (cluster) => {
    const previousLock = await requireLock(context, file)
    const lock = await resolveClusterLock(
      context,
      options,
      cluster,
      listTargets(cluster, listArches(previousLock)),
    )
    const persist = async (): Promise<void> => writeLock(context, buildLockPath(file), lock)
    return { command: `upgrade --to ${version}`, lock, persist }
  })
}

/** Lists the architectures of Linux hosts in a lock. */
function listArches({ artifacts }: Lock): Arch[] {
  return [...new Set(artifacts.filter(({ os }) => os === 'linux').map(({ arch }) => arch))]
}
