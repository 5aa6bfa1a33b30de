import { hasErrors } from '../../contract/finding.ts'
import { bundleKey } from '../../identity/bundle-key.ts'
import { forgetHostKey } from '../../identity/host-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { execute } from '../../lifecycle/execute.ts'
import {
  type PlannedTrial,
  planTrial,
  type TrialWish,
} from '../../lifecycle/auto-rollback/plan-provisional.ts'
import { type Place, placesOf } from '../../lifecycle/host-endpoints.ts'
import type { Surroundings, SurroundingsOptions } from '../../lifecycle/cluster-client.ts'
import { isPending, type Proposal, type Wish } from '../../lifecycle/build-proposal.ts'
import { openClusterBundle } from '../bundle/open-cluster-bundle.ts'
import { saveIdentity } from '../load-identity.ts'
import { type Context, exitCodes, type Invocation } from '../command.ts'
import { beyondAgreement } from '../../lifecycle/plan-approval.ts'
import type { Foreseen, PlanDocument } from '../../lifecycle/plan-document.ts'
import { proposalText } from '../plan/proposal-text.ts'
import type { ReportedRun, Verdict } from '../run-with-progress.ts'
import { settleTrial } from '../provisional/settle-change.ts'
import { type TrialEnd, trialText, unfinishedText } from '../provisional/text.ts'
import { listed } from '../format-text.ts'
import { agreed } from './confirm.ts'
import { objectsOf } from './desired-objects.ts'
import { proposeLive, remotesOf, viewOf } from './propose.ts'
import type { Reached } from './connect.ts'
import { refused } from './refused-result.ts'
import { underClaim } from './operator-lock.ts'

export interface UpFlags {
  readonly ignore: readonly string[]
  readonly forceUnlock: boolean
  /** Whether it is only shown. */
  readonly dryRun: boolean
  /** Nothing beyond it is done. */
  readonly plan: AgreedPlan | undefined
  /** Hosts go back by themselves, unless it is kept. */
  readonly trial?: TrialWish | undefined
  /** A program that reads events answers no questions. */
  readonly mayAsk: boolean
}

export interface AgreedPlan {
  readonly file: string
  readonly document: PlanDocument
}

export interface UpScene extends Pick<Reached, 'wish' | 'crew' | 'leavers'> {
  readonly context: Context
  readonly options: Invocation['options']
  readonly flags: UpFlags
  /** Whether all certificates shall be renewed, also those that are good for long. */
  readonly renew?: boolean
  /** Hosts whose etcd was given its data, and has never run with it. */
  readonly restored?: readonly string[]
  readonly run: ReportedRun
  /** Hears what would be done, before anybody is asked. */
  readonly foreseen?: (what: Foreseen) => void
  /** The ways into a cluster that runs. */
  readonly look: (
    places: readonly Place[],
    options: SurroundingsOptions,
  ) => Promise<Omit<Surroundings, 'api' | 'etcd'>>
  /** Keeps what is wished: it shall be so, or is so already. */
  readonly keep: () => Promise<void>
  /** From now on hosts are waited for, though somebody interrupts. */
  readonly begin: () => void
  /** Not aborted by an interruption after that: what was begun in the cluster is tidied up, too. */
  readonly lasting: AbortSignal
}

export interface UpVerdict extends Verdict {
  readonly trial?: TrialEnd
}

/** Looks what is to be done on hosts that were reached, asks, and does it. */
export async function bringUp(scene: UpScene): Promise<UpVerdict> {
  const { context, wish, crew, flags, run } = scene
  const { say, tell } = run
  const proposal = await proposeLive({
    ...scene,
    ignore: flags.ignore,
    mayBeOnTrial: flags.trial !== undefined,
  })
  scene.foreseen?.(proposal)
  if (hasErrors(proposal.findings)) return refused(proposal.findings)
  const tried = flags.trial && (await planTrial(flags.trial, wish, proposal, crew.sessions, crew.trials))
  if (tried !== undefined && tried.findings.length > 0) {
    for (const finding of tried.findings) tell({ type: 'finding', finding })
    return refused(tried.findings)
  }
  const trial = tried?.trial.hosts.size === 0 ? undefined : tried?.trial
  say(`${shown(context, wish, proposal)}${trial === undefined ? '' : trialText(trial)}`)
  if (flags.dryRun) {
    const code = isPending(proposal) ? exitCodes.changesPending : exitCodes.ok
    return { code, result: { outcome: 'unchanged' } }
  }
  if (!isPending(proposal) && trial === undefined) {
    await scene.keep()
    return done(crew, 'unchanged')
  }
  if (flags.plan !== undefined) keepTo(flags.plan, proposal)
  // Whoever hands over a plan has agreed to it.
  const answer = flags.plan !== undefined || (await agreed(context, scene.options, flags.mayAsk))
  if (answer !== true) return { code: answer, result: { outcome: 'unchanged' } }
  await scene.keep()
  await carryOut(scene, proposal, trial)
  const verdict = done(crew, 'done')
  return trial === undefined ? verdict : settleTrial(scene, trial, verdict)
}

/** Hosts and files may have changed since somebody agreed. */
function keepTo({ file, document }: AgreedPlan, proposal: Proposal): void {
  const beyond = beyondAgreement(document, proposal)
  if (beyond.length === 0) return
  const message = `more would be done now than ${file} says: ${listed(beyond)}`
  throw new HyperkubeError('PLAN_OUTDATED', message, {
    hint: `read what would be done, and write it anew: hyperkube plan --out ${file}`,
  })
}

async function carryOut(scene: UpScene, proposal: Proposal, trial: PlannedTrial | undefined): Promise<void> {
  const { context, wish, crew, leavers, flags, run, look, begin } = scene
  const gone = new Set<string>()
  const { publicKey } = bundleKey(wish.identity)
  await using bundle = await openClusterBundle(context, scene.options.file, wish.cluster, publicKey)
  // Before the claim and not after: one that was granted is to be given back.
  begin()
  await underClaim({ ...scene, forceUnlock: flags.forceUnlock }, async ({ claim, leave }, signal) => {
    const view = {
      ...viewOf(wish, context, remotesOf(crew, leavers)),
      objects: objectsOf(wish.cluster, proposal.plans),
      signal: scene.lasting,
    }
    using around = await look([...placesOf(proposal.plans), ...proposal.leavers], view)
    const begun = context.now()
    await execute(wish, proposal, crew.sessions, {
      claim,
      left(host) {
        leave(host)
        gone.add(host)
      },
      leavers: leavers.sessions,
      observer: around,
      interior: around,
      bundle,
      trial,
      tell: run.tell,
      now: context.now,
      signal,
    }).catch((error: unknown) => {
      if (trial !== undefined) run.say(unfinishedText(trial, begun))
      throw error
    })
  })
  if (gone.size > 0) await forget(scene, gone)
}

/** Another machine may come in their places, and will show another key. */
async function forget({ context, options, wish }: UpScene, hosts: ReadonlySet<string>): Promise<void> {
  await saveIdentity(context, options, [...hosts].reduce(forgetHostKey, wish.identity))
}

/** What those get that did not answer is still to come. */
function done({ missing }: Reached['crew'], outcome: 'done' | 'unchanged'): Verdict {
  return { code: missing.size === 0 ? exitCodes.ok : exitCodes.changesPending, result: { outcome } }
}

function shown({ paintProgress }: Context, { cluster }: Wish, proposal: Proposal): string {
  const hosts = new Set(proposal.plans.map(({ host }) => host))
  const options = { wide: false, diff: false, hosts, former: new Map() }
  return proposalText(cluster, proposal, options, paintProgress)
}
