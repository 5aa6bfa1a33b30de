import { randomUUID } from 'node:crypto'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { digestOf } from '../../diff/digest.ts'
import { publicIdentity } from '../../identity/public-identity.ts'
import { settleAll } from '../../kit/settle-all.ts'
import { isWorkerPlan } from '../../rollout/host.ts'
import { groupsBack, opsBack, slotsBack } from '../../rollout/provisional-rollback.ts'
import { trialFindings, type TriedHost } from '../../rollout/provisional-findings.ts'
import { isFeasible } from '../addons/proposal.ts'
import { describeChanges } from '../cluster-objects/changes.ts'
import type { Session } from '../session.ts'
import { type Proposal, secretsOf, type Wish } from '../build-proposal.ts'
import { onTrial, type OnTrial, type Trials, trialUnderWay } from './provisional-changes.ts'

export interface TrialWish {
  /** How long it is tried, from the end of the rollout on. In milliseconds, as all here. */
  readonly time: number
  /** How long after each other hosts go back. */
  readonly slot: number
}

/** What is tried, and how hosts would go back from it. */
export interface PlannedTrial {
  readonly id: string
  readonly time: number
  /** Whether it was begun before, by a run that was cut. */
  readonly goesOn: boolean
  readonly hosts: ReadonlyMap<string, { readonly plan: string; readonly slot: number }>
  /** Those that go back together, in the order in which they do. */
  readonly groups: readonly (readonly string[])[]
  /** What is done on each host to go back. */
  readonly back: ReadonlyMap<string, readonly Op[]>
}

export interface TrialProposal {
  readonly trial: PlannedTrial
  /** All that keeps it from being tried. */
  readonly findings: readonly Finding[]
}

/** Looks what there would be to go back to, and whether all of a proposal could be. Nothing is changed by it. */
export async function planTrial(
  { time, slot }: TrialWish,
  wish: Wish,
  proposal: Proposal,
  sessions: ReadonlyMap<string, Session>,
  trials: Trials,
): Promise<TrialProposal> {
  const under = onTrial(trials)
  const { plans, steps, ops, leavers } = proposal
  const touched = new Set([...steps.flatMap(({ hosts }) => hosts), ...under.keys()])
  const hosts = await formerOf(
    plans.filter(({ host }) => touched.has(host)),
    ops,
    sessions,
  )
  const groups = groupsBack({
    plans: hosts.map(({ plan }) => plan),
    steps,
    maxUnavailable: wish.cluster.spec.rollout.maxUnavailable,
    workers: plans.filter(isWorkerPlan).length,
  })
  const slots = slotsBack(groups, slot)
  const [first] = under.values()
  return {
    trial: {
      id: first?.id ?? randomUUID(),
      time,
      goesOn: under.size > 0,
      hosts: new Map(
        hosts.map(({ plan }) => [plan.host, { plan: digestOf(plan), slot: slots.get(plan.host) ?? 0 }]),
      ),
      groups,
      back: new Map(
        hosts.map(({ plan, former }) => [plan.host, former === undefined ? [] : opsBack(former, plan)]),
      ),
    },
    findings: isOther(under, plans)
      ? trialUnderWay(trials, 'error')
      : trialFindings({
          hosts,
          leaving: leavers.map(({ host }) => host),
          inside: insideOf(proposal),
          keys: keysOf(wish),
        }),
  }
}

async function formerOf(
  plans: readonly NodePlan[],
  ops: Proposal['ops'],
  sessions: ReadonlyMap<string, Session>,
): Promise<TriedHost[]> {
  return settleAll(
    plans.map(async (plan) => {
      const answer = await sessions.get(plan.host)?.ask({ type: 'former-plan' }, 'former-plan')
      return { plan, former: answer?.plan, ops: ops.get(plan.host) ?? [] }
    }),
  )
}

/** Whether something is on trial that is not what is wished now. */
function isOther(under: OnTrial, plans: readonly NodePlan[]): boolean {
  const digests = new Map(plans.map((plan) => [plan.host, digestOf(plan)]))
  const ids = new Set([...under.values()].map(({ id }) => id))
  return ids.size > 1 || [...under].some(([host, { plan }]) => digests.get(host) !== plan)
}

/** Pods with which a run that was cut wanted to show that nodes work are no part of what is tried. */
function insideOf({ inside, addons }: Proposal): string[] {
  return [
    ...describeChanges(inside.filter(({ kind }) => kind !== 'trial')),
    ...addons.differences.filter(isFeasible).map(({ addon }) => `addon ${addon}`),
  ]
}

function keysOf(wish: Wish): string[] {
  const { authorities, kubernetesSigner, serviceAccountKeys } = publicIdentity(wish.identity, secretsOf(wish))
  const bundles = [...Object.values(authorities), kubernetesSigner, serviceAccountKeys]
  return bundles.flatMap((bundle) => bundle.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [])
}
