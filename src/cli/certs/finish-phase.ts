import { hasErrors } from '../../contract/finding.ts'
import { type KeyName, unusedSince } from '../../identity/replace-key.ts'
import type { Phase } from '../../identity/replacement.ts'
import { settlementOf } from '../../lifecycle/key-rotation/wait-for-rotation.ts'
import { toldAside } from '../../lifecycle/event-stream.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import { openEtcd } from '../etcd/open-etcd.ts'
import { openIdentity, saveIdentity } from '../load-identity.ts'
import { openApi } from '../node/open-api.ts'
import { reportedRun, type Verdict } from '../run-with-progress.ts'
import { count } from '../format-text.ts'
import { type CertsWish, certsFlags } from './action.ts'

/** Does in the cluster what must be done before a key may go on, and says what keeps it from that. */
export async function settleInside(
  { context, options, cluster }: CertsWish,
  command: string,
  key: KeyName,
  phase: Phase,
): Promise<ExitCode> {
  const settlement = settlementOf(key, phase)
  if (settlement === undefined) return exitCodes.ok
  const { ignore, restartPods, progress } = certsFlags.parse(options)
  const { now, signal } = context
  const { name } = cluster.metadata
  const stored = await openIdentity(context, options, name)
  const identity = unusedSince(stored, now())
  // Whoever comes back later must know since when.
  if (identity !== stored) await saveIdentity(context, options, identity)
  const settings = { command, cluster: name, progress, debug: options.debug === true }
  const { code } = await reportedRun(context, settings, async (run): Promise<Verdict> => {
    await using opened = await openApi(context, options, cluster)
    await using etcd = await openEtcd(context, options.file, cluster, identity)
    const begun = now().toISOString()
    const planned = { step: `${key}-${phase}`, title: settlement.title, hosts: [] }
    const findings = await toldAside({ tell: run.tell, signal }, planned, async () =>
      settlement.settle({
        identity,
        api: opened.api,
        etcd: etcd.client,
        restartPods,
        progress: (written) =>
          run.tell({
            type: 'waiting',
            for: `all to be written, ${count(written, 'object')} by now`,
            since: begun,
          }),
        tell: (reason, since) => run.tell({ type: 'waiting', for: reason, since }),
        now,
        signal,
      }),
    )
    const left = findings.filter((finding) => !ignore.includes(finding.code))
    for (const finding of left) run.tell({ type: 'finding', finding })
    // Nothing has failed: the same command goes on from here.
    return hasErrors(left)
      ? { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
      : { code: exitCodes.ok, result: { outcome: 'done' } }
  })
  return code
}
