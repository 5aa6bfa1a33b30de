import { hasErrors } from '../../contract/finding.ts'
import { type KeyName, recordPreviousKeyUnused } from '../../identity/replace-key.ts'
import type { ReplacementPhase } from '../../identity/replacement.ts'
import { findRotationStep } from '../../lifecycle/key-rotation/wait-for-rotation.ts'
import { reportSingleStep } from '../../lifecycle/event-stream.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import { openEtcd } from '../etcd/open-etcd.ts'
import { openIdentity, saveIdentity } from '../load-identity.ts'
import { openApi } from '../node/open-api.ts'
import { runWithProgress, type CommandOutcome } from '../run-with-progress.ts'
import { formatCount } from '../format-text.ts'
import { type CertsInvocation, certsFlags } from './action.ts'

/**
 * Does the work in the cluster that a key needs before its next phase, and reports the problems that prevent
 * it.
 */
export async function finishRotationPhase(
  { context, options, cluster }: CertsInvocation,
  command: string,
  key: KeyName,
  phase: ReplacementPhase,
): Promise<ExitCode> {
  const rotationStep = findRotationStep(key, phase)
  if (rotationStep === undefined) return exitCodes.ok
  const { ignore, restartPods, progress } = certsFlags.parse(options)
  const { now, signal } = context
  const { name } = cluster.metadata
  const stored = await openIdentity(context, options, name)
  const identity = recordPreviousKeyUnused(stored, now())
  // Later runs need to know since when the previous key is unused.
  if (identity !== stored) await saveIdentity(context, options, identity)
  const settings = { command, cluster: name, progress, debug: options.debug === true }
  const { code } = await runWithProgress(context, settings, async (run): Promise<CommandOutcome> => {
    await using openedApi = await openApi(context, options, cluster)
    await using etcd = await openEtcd(context, options.file, cluster, identity)
    const startedAt = now().toISOString()
    const planned = { step: `${key}-${phase}`, title: rotationStep.title, hosts: [] }
    const findings = await reportSingleStep({ emit: run.emit, signal }, planned, async () =>
      rotationStep.run({
        identity,
        api: openedApi.api,
        etcd: etcd.client,
        restartPods,
        progress: (writtenCount) =>
          run.emit({
            type: 'waiting',
            for: `all to be written, ${formatCount(writtenCount, 'object')} by now`,
            since: startedAt,
          }),
        report: (reason, since) => run.emit({ type: 'waiting', for: reason, since }),
        now,
        signal,
      }),
    )
    const remaining = findings.filter((finding) => !ignore.includes(finding.code))
    for (const finding of remaining) run.emit({ type: 'finding', finding })
    // Pending work is not a failure: the same command resumes here.
    return hasErrors(remaining)
      ? { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
      : { code: exitCodes.ok, result: { outcome: 'done' } }
  })
  return code
}
