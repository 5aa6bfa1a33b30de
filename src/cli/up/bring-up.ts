import { type Finding, hasErrors } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { type ClaimWish, takeClaim } from '../../lifecycle/claim.ts'
import { execute } from '../../lifecycle/execute.ts'
import { type Tell, toldAside } from '../../lifecycle/stream.ts'
import type { Surroundings, SurroundingsOptions } from '../../lifecycle/surroundings.ts'
import { type Proposal, survey, type Wish } from '../../lifecycle/survey.ts'
import { type Context, exitCodes, type Invocation } from '../command.ts'
import { limitHosts } from '../limit.ts'
import { holderName, isAlive, isGone } from '../holder.ts'
import { proposalText } from '../plan/text.ts'
import type { ReportedRun, Verdict } from '../reported-run.ts'
import { agreed } from './agree.ts'
import { missingFindings } from './missing.ts'
import type { Reached } from './reach.ts'

export interface UpFlags {
  readonly ignore: readonly string[]
  readonly forceUnlock: boolean
  /** A program that reads events answers no questions. */
  readonly mayAsk: boolean
}

export interface UpScene extends Pick<Reached, 'wish' | 'crew'> {
  readonly context: Context
  readonly options: Invocation['options']
  readonly flags: UpFlags
  readonly run: ReportedRun
  /** The ways into a cluster that runs. */
  readonly look: (
    plans: readonly NodePlan[],
    options: SurroundingsOptions,
  ) => Promise<Omit<Surroundings, 'api'>>
  /** From now on hosts are waited for, though somebody interrupts. */
  readonly begin: () => void
}

/** Looks what is to be done on hosts that were reached, asks, and does it. */
export async function bringUp(scene: UpScene): Promise<Verdict> {
  const { context, wish, crew, flags, run } = scene
  const { tell, say } = run
  tellFindings(tell, missingFindings(crew.missing))
  const proposal = await propose(scene)
  const findings = proposal.findings.filter((finding) => !isKnown(finding, crew))
  tellFindings(tell, findings)
  if (hasErrors(findings)) return refused(findings)
  say(shown(context, wish, proposal))
  if (proposal.steps.length === 0) return done(crew, 'unchanged')
  const answer = await agreed(context, scene.options, flags.mayAsk)
  if (answer !== true) return { code: answer, result: { outcome: 'unchanged' } }
  await carryOut(scene, proposal)
  return done(crew, 'done')
}

async function propose({ context, wish, crew, flags, run, look, options }: UpScene): Promise<Proposal> {
  const { signal } = context
  const hosts = [...crew.sessions.keys()]
  return toldAside(
    { tell: run.tell, signal },
    { step: 'look', title: 'look at what is there', hosts },
    async () =>
      survey(wish, crew.sessions, async (plans) => look(plans, viewOf(wish, context)), {
        ignored: flags.ignore,
        limit: options.limit && new Set(limitHosts(wish.cluster, options.limit).map(({ name }) => name)),
      }),
  )
}

/** Under a claim, which is given back whatever happens. */
async function carryOut(scene: UpScene, proposal: Proposal): Promise<void> {
  const { context, wish, crew, flags, run, look, begin } = scene
  const { now, signal, operator } = context
  // Before the claim and not after: one that was granted is to be given back.
  begin()
  const held = await takeClaim({
    ...grantersOf(wish, crew),
    holder: holderName(operator, process.pid),
    force: flags.forceUnlock,
    isGone: (other) => isGone(other, operator, isAlive),
  })
  const lost = (): void => run.tell({ type: 'stopping', because: 'claim-lost' })
  held.lost.addEventListener('abort', lost, { once: true })
  try {
    using around = await look(proposal.plans, viewOf(wish, context))
    await execute(wish, proposal, crew.sessions, {
      claim: held.claim,
      observer: around,
      whenApiAnswers: async () =>
        around.grantRights(wish.cluster.spec.hosts.some(({ os }) => os === 'windows')),
      tell: run.tell,
      now,
      signal: AbortSignal.any([signal, held.lost]),
    })
  } finally {
    held.lost.removeEventListener('abort', lost)
    await held.release()
  }
}

function viewOf({ identity, cluster }: Wish, { operator, now, signal }: Context): SurroundingsOptions {
  return {
    identity,
    operator: holderName(operator, process.pid),
    apiPort: cluster.spec.api.port,
    now: now(),
    signal,
  }
}

/** That there are no facts of a host which did not answer goes without saying; why it did not has been said. */
function isKnown({ code, severity, host }: Finding, { missing }: Reached['crew']): boolean {
  return code === 'HOST_NO_FACTS' && severity === 'warning' && missing.has(host ?? '')
}

/** Control planes grant a claim together, and the others are told. */
function grantersOf(
  { cluster }: Wish,
  { sessions }: Reached['crew'],
): Pick<ClaimWish, 'granters' | 'others' | 'controlPlanes'> {
  const controlPlanes = new Set(
    cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane')).map(({ name }) => name),
  )
  const agents = [...sessions.values()]
  return {
    granters: agents.filter(({ host }) => controlPlanes.has(host)),
    others: agents.filter(({ host }) => !controlPlanes.has(host)),
    controlPlanes: controlPlanes.size,
  }
}

function tellFindings(tell: Tell, findings: readonly Finding[]): void {
  for (const finding of findings) tell({ type: 'finding', finding })
}

function refused(findings: readonly Finding[]): Verdict {
  const { code = '', message = '', hint } = findings.find(({ severity }) => severity === 'error') ?? {}
  const failure = { code, message, ...(hint === undefined ? {} : { hint }) }
  return { code: exitCodes.failure, result: { outcome: 'failed', failure } }
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
