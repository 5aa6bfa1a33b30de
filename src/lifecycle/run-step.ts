import type { NodePlan } from '../contract/node-plan.ts'
import type { Claim } from '../contract/request.ts'
import { settleAll } from '../kit/settle-all.ts'
import { joiningPlan } from '../plan/linux/etcd.ts'
import type { ApplyStep, LeaveStep } from '../rollout/step.ts'
import { applyThrough } from './apply-plan.ts'
import type { Certificates } from './certificates.ts'
import { goBack } from './rollback-step.ts'
import { leave } from './remove-host.ts'
import type { Membership, Patience } from './cluster-access.ts'
import type { Session } from './session.ts'
import { type Tell, toldStep } from './event-stream.ts'
import { type Proposal, secretsOf, type Wish } from './build-proposal.ts'

export interface VisitOptions {
  readonly claim: Claim
  /** A host has left, and is told of the claim no more. */
  readonly left: (host: string) => void
  /** Those who leave and answer. */
  readonly leavers: ReadonlyMap<string, Session>
  readonly interior: Membership
  readonly tell: Tell
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** A drain may wait for pods to start elsewhere, and for whoever looks after a budget. */
const drainTime = 600_000
/** A new member may have much to learn. */
const joinTime = 600_000

function patience(within: number, { tell, now, signal }: VisitOptions, host: string): Patience {
  const waiting: Patience['waiting'] = (reason, since) =>
    tell({ type: 'waiting', for: reason, since }, { host })
  return { waiting, within, now, signal }
}

export async function depart(step: LeaveStep, options: VisitOptions): Promise<void> {
  const { leavers, interior, claim, left, tell } = options
  const { host, id } = step
  tell({ type: 'step-started', step: id }, { host })
  await toldStep(options, { step: id, host }, async () =>
    leave(step, {
      membership: interior,
      session: leavers.get(host),
      claim,
      left,
      tell,
      patience: patience(drainTime, options, host),
    }),
  )
}

/** All that hosts are taken through their plans with. */
export interface Luggage {
  readonly wish: Wish
  readonly plans: Proposal['plans']
  readonly sessions: ReadonlyMap<string, Session>
  readonly certificates: Certificates
  /** Waits until all of it is so. */
  readonly pass: (gates: ApplyStep['after']) => Promise<void>
}

/**
 * Takes the hosts of a step through its stage: pods go first where they have to, and whoever joins etcd has a place there
 * before it starts. What does not come up in a cluster that lives goes back to what it was.
 */
export async function visit(step: ApplyStep, luggage: Luggage, options: VisitOptions): Promise<void> {
  const { interior, signal } = options
  if (step.drain) {
    await settleAll(
      step.hosts.map(async (host) =>
        interior.drain(host, { ...patience(drainTime, options, host), lost: false }),
      ),
    )
  }
  const failed = new Set<string>()
  try {
    await join(step, luggage, options, failed)
    await luggage.pass(step.after)
  } catch (error) {
    if (signal.aborted || !step.disruptive) throw error
    throw await goBack(failed.size === 0 ? step : { ...step, hosts: [...failed] }, error, {
      ...luggage,
      apply: async (session, plan) =>
        applyThrough(session, deliveryOf(plan, luggage, options), step.stage, options.tell),
      async pass() {
        await luggage.pass(step.after)
        await letBack(step, options)
      },
    })
  }
  await letBack(step, options)
}

async function join(
  step: ApplyStep,
  luggage: Luggage,
  options: VisitOptions,
  failed: Set<string>,
): Promise<void> {
  const { interior } = options
  const joining = step.after.flatMap((gate) => (gate.kind === 'etcd-member-promoted' ? [gate.host] : []))
  let { plans } = luggage
  for (const host of joining) {
    const members = await interior.joinEtcd(host, patience(joinTime, options, host))
    plans = plans.map((plan) => (plan.host === host ? joiningPlan(plan, members) : plan))
  }
  await take(step, { ...luggage, plans }, options, failed)
  for (const host of joining) await interior.promote(host, patience(joinTime, options, host))
}

/** Pods may come again where they had to go. */
async function letBack({ hosts, drain }: ApplyStep, { interior }: VisitOptions): Promise<void> {
  if (drain) await settleAll(hosts.map(async (host) => interior.uncordon(host)))
}

/** Takes the hosts of a step through its stage, side by side, and notes those that do not get there. */
async function take(
  { id, stage, hosts }: ApplyStep,
  luggage: Luggage,
  options: VisitOptions,
  failed: Set<string>,
): Promise<void> {
  const { plans, sessions } = luggage
  const { tell } = options
  const planOf = new Map(plans.map((plan) => [plan.host, plan]))
  await settleAll(
    hosts.flatMap((host) => {
      const [plan, session] = [planOf.get(host), sessions.get(host)]
      if (plan === undefined || session === undefined) return []
      tell({ type: 'step-started', step: id, stage }, { host })
      const done = toldStep(options, { step: id, host }, async () =>
        applyThrough(session, deliveryOf(plan, luggage, options), stage, tell),
      )
      return [
        done.catch((error: unknown) => {
          failed.add(host)
          throw error
        }),
      ]
    }),
  )
}

function deliveryOf(
  plan: NodePlan,
  { wish, certificates }: Luggage,
  { claim }: VisitOptions,
): Parameters<typeof applyThrough>[1] {
  return { plan, claim, secrets: secretsOf(wish), certificates: certificates.get(plan.host) ?? {} }
}
