import type { Lock } from '../../catalog/lock.ts'
import type { Arch } from '../../catalog/artifact-target.ts'
import { lockFile } from '../cluster-paths.ts'
import type { Context, ExitCode, Invocation } from '../command.ts'
import { requireLock } from '../load-lock.ts'
import { lookUpLock, targetsOf, writeLock } from '../lock/resolve-cluster-lock.ts'
import { runChanged } from '../up/change-file.ts'
import { putWord } from '../yaml-edit.ts'

/**
 * Takes a cluster to one version: looks up what it is made of, shows what would be done, and does it. Its lock is written
 * with cluster.yml, so that `up` goes on wherever this is cut.
 */
export async function upgradeTo(
  context: Context,
  options: Invocation['options'],
  version: string,
): Promise<ExitCode> {
  const { file } = options
  const change = (text: string): string => putWord(text, ['spec'], 'kubernetes', `"${version}"`)
  return runChanged(context, options, change, async (cluster) => {
    const before = await requireLock(context, file)
    const lock = await lookUpLock(context, options, cluster, targetsOf(cluster, archesIn(before)))
    const keep = async (): Promise<void> => writeLock(context, lockFile(file), lock)
    return { command: `upgrade --to ${version}`, lock, keep }
  })
}

/** The kinds of Linux hosts that it was made for. */
function archesIn({ artifacts }: Lock): Arch[] {
  return [...new Set(artifacts.filter(({ os }) => os === 'linux').map(({ arch }) => arch))]
}
