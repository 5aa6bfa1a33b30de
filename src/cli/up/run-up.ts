import type { Lock } from '../../catalog/lock.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Identity } from '../../identity/identity.ts'
import type { Foreseen } from '../../lifecycle/plan-document.ts'
import { surroundings } from '../../lifecycle/cluster-client.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Host } from '../../spec/host.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { loadWish } from '../load-inputs.ts'
import { print } from '../print.ts'
import { reportedRun } from '../run-with-progress.ts'
import type { TrialWish } from '../../lifecycle/auto-rollback/plan-provisional.ts'
import type { TrialEnd } from '../provisional/text.ts'
import { type AgreedPlan, bringUp } from './propose-and-execute.ts'
import { leash } from './deferred-abort.ts'
import { reach } from './connect.ts'
import { upDocument, type UpEnd, upText } from './result.ts'
import { upFlags } from './up-flags.ts'

export interface UpWish {
  /** What was typed. */
  readonly command: string
  readonly cluster: Cluster
  /** What is to be known of its file. */
  readonly findings: readonly Finding[]
  /** Where they are not those on disk. */
  readonly lock?: Lock
  readonly identity?: Identity
  /** Whether all certificates shall be renewed, also those that are good for long. */
  readonly renew?: boolean
  readonly plan?: AgreedPlan | undefined
  /** Hosts go back by themselves, unless it is kept. */
  readonly trial?: TrialWish | undefined
  /** Hosts that the file had until now. */
  readonly former?: readonly Host[]
  /** Keeps the wish, once it is sure that it is one: from then on whoever goes on must find it. */
  readonly keep?: () => Promise<void>
}

/** Brings a cluster to what is wished, from the first look to the last word. */
export async function runUp(
  context: Context,
  options: Invocation['options'],
  wish: UpWish,
): Promise<ExitCode> {
  const end = await bringTo(context, options, wish)
  if (end.code === exitCodes.usage) return end.code
  print(context.stdout, options.output, upDocument(end), () => upText(end))
  return end.code
}

/** The same without the last word, for those who have more to do. */
export async function bringTo(
  context: Context,
  options: Invocation['options'],
  { command, cluster, findings, lock, identity, renew = false, plan, trial, former, keep }: UpWish,
): Promise<UpEnd> {
  const { progress, ignore, forceUnlock, dryRun } = upFlags.parse(options)
  const loaded = await loadWish(context, options, cluster)
  const wish = { ...loaded, lock: lock ?? loaded.lock, identity: identity ?? loaded.identity }
  const { name } = cluster.metadata
  let [hosts, leftBehind]: [readonly string[], readonly string[]] = [[], []]
  let foreseen: Foreseen | undefined
  let tried: TrialEnd | undefined
  const settings = { command, cluster: name, progress, debug: options.debug === true }
  const ended = await reportedRun(context, settings, async (run) => {
    for (const finding of findings) run.tell({ type: 'finding', finding })
    using way = leash(context.signal)
    await using reached = await reach(context, options, wish, run, way.signal, former)
    leftBehind = [...reached.crew.missing.keys()]
    const verdict = await bringUp({
      ...reached,
      context,
      options,
      flags: { ignore, forceUnlock, dryRun, plan, trial, mayAsk: progress !== 'json' },
      run,
      foreseen: (what) => (foreseen = what),
      renew,
      look: surroundings,
      keep: keep ?? (async () => undefined),
      begin: way.letGo,
      lasting: way.signal,
    })
    tried = verdict.trial
    if (verdict.result.outcome === 'done') hosts = [...reached.crew.sessions.keys()]
    return verdict
  })
  return {
    ...ended,
    cluster: name,
    hosts,
    leftBehind,
    ...(dryRun && foreseen ? { foreseen } : {}),
    ...(tried === undefined ? {} : { trial: tried }),
  }
}
