import type { Lock } from '../../catalog/lock.ts'
import type { Arch } from '../../catalog/target.ts'
import { readCluster } from '../../spec/read.ts'
import { putWord } from '../yaml-edit.ts'
import { lockFile } from '../beside.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { catalogRules } from '../load-cluster.ts'
import { requireLock } from '../load-lock.ts'
import { lookUpLock, targetsOf, writeLock } from '../lock/look-up.ts'
import { findingsText } from '../print.ts'
import { runUp } from '../up/run-up.ts'

/**
 * Takes a cluster to one version: looks up what it is made of, shows what would be done, and does it. cluster.yml and its
 * lock are written once that was agreed to, so that `up` goes on wherever this is cut.
 */
export async function upgradeTo(
  context: Context,
  options: Invocation['options'],
  version: string,
): Promise<ExitCode> {
  const { file } = options
  const text = putWord(await context.readFile(file), ['spec'], 'kubernetes', `"${version}"`)
  const { cluster, findings } = readCluster({ file, text }, catalogRules)
  if (cluster === undefined) {
    context.stderr.write(findingsText(findings))
    context.stderr.write(`nothing was done, and ${file} is as it was\n`)
    return exitCodes.failure
  }
  const before = await requireLock(context, file)
  const lock = await lookUpLock(context, options, cluster, targetsOf(cluster, archesIn(before)))
  return runUp(context, options, {
    command: `upgrade --to ${version}`,
    cluster,
    findings,
    lock,
    async keep() {
      await writeLock(context, lockFile(file), lock)
      await context.replaceFile(file, text, 0o644)
    },
  })
}

/** The kinds of Linux hosts that it was made for. */
function archesIn({ artifacts }: Lock): Arch[] {
  return [...new Set(artifacts.filter(({ os }) => os === 'linux').map(({ arch }) => arch))]
}
