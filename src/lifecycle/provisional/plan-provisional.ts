import { randomUUID } from 'node:crypto'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import { computeDigest } from '../../diff/resource.ts'
import { toPublicIdentity } from '../../identity/public-identity.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { formatNames } from '../../kit/text.ts'
import { isWorkerPlan } from '../../rollout/host.ts'
import { provisionalFindings, type ProvisionalHost } from '../../rollout/provisional-findings.ts'
import { diffRollback, groupRollback, scheduleRollback } from '../../rollout/rollback.ts'
import { isFeasible } from '../addons/proposal.ts'
import type { Session } from '../agents/session.ts'
import { describeObjectChanges } from '../cluster-objects/changes.ts'
import { type ClusterInputs, collectSecrets } from '../inputs/cluster-inputs.ts'
import type { Proposal } from '../proposal/proposal.ts'

export interface ProvisionalOptions {
  /** Milliseconds for which the change is provisional, counted from the end of the rollout. */
  readonly durationMs: number
  /** Milliseconds between the rollbacks of two groups of hosts. */
  readonly rollbackIntervalMs: number
}

/** A provisional change, and how hosts would roll back to the previous plans. */
export interface PlannedProvisionalChange {
  readonly id: string
  readonly durationMs: number
  /** True if an interrupted run has already begun this change. */
  readonly isResumed: boolean
  readonly hosts: ReadonlyMap<string, { readonly plan: string; readonly rollbackDelayMs: number }>
  /** Groups in the order in which they roll back. The hosts of one group roll back together. */
  readonly rollbackGroups: readonly (readonly string[])[]
  /** Ops of the rollback, by host name. */
  readonly rollbackOps: ReadonlyMap<string, readonly Op[]>
}

export interface ProvisionalProposal {
  readonly provisional: PlannedProvisionalChange
  /** Reasons why the change cannot be provisional. */
  readonly findings: readonly Finding[]
}

/**
 * Reads the previous plans of hosts, and checks whether all changes of a proposal can be rolled back. Changes
 * nothing.
 */
export async function planProvisionalChange(
  { durationMs, rollbackIntervalMs }: ProvisionalOptions,
  inputs: ClusterInputs,
  proposal: Proposal,
  sessions: ReadonlyMap<string, Session>,
  provisionalChanges: ProvisionalChangesByHost,
): Promise<ProvisionalProposal> {
  const active = selectActiveProvisional(provisionalChanges)
  const { plans, steps, ops, hostsToRemove } = proposal
  const changedHosts = new Set([...steps.flatMap(({ hosts }) => hosts), ...active.keys()])
  const hosts = await readPreviousPlans(
    plans.filter(({ host }) => changedHosts.has(host)),
    ops,
    sessions,
  )
  const rollbackGroups = groupRollback({
    plans: hosts.map(({ plan }) => plan),
    steps,
    maxUnavailable: inputs.cluster.spec.rollout.maxUnavailable,
    workers: plans.filter(isWorkerPlan).length,
  })
  const rollbackDelays = scheduleRollback(rollbackGroups, rollbackIntervalMs)
  const [first] = active.values()
  return {
    provisional: {
      id: first?.id ?? randomUUID(),
      durationMs,
      isResumed: active.size > 0,
      hosts: new Map(
        hosts.map(({ plan }) => [
          plan.host,
          { plan: computeDigest(plan), rollbackDelayMs: rollbackDelays.get(plan.host) ?? 0 },
        ]),
      ),
      rollbackGroups,
      rollbackOps: new Map(
        hosts.map(({ plan, previous }) => [
          plan.host,
          previous === undefined ? [] : diffRollback(previous, plan),
        ]),
      ),
    },
    findings: isConflicting(active, plans)
      ? checkActiveProvisional(provisionalChanges, 'error')
      : provisionalFindings({
          hosts,
          removed: hostsToRemove.map(({ host }) => host),
          clusterChanges: listClusterChanges(proposal),
          keys: listPublicKeys(inputs),
        }),
  }
}

async function readPreviousPlans(
  plans: readonly NodePlan[],
  ops: Proposal['ops'],
  sessions: ReadonlyMap<string, Session>,
): Promise<ProvisionalHost[]> {
  return settleAll(
    plans.map(async (plan): Promise<ProvisionalHost> => {
      const response = await sessions.get(plan.host)?.request({ type: 'previous-plan' }, 'previous-plan')
      return { plan, previous: response?.plan, ops: ops.get(plan.host) ?? [] }
    }),
  )
}

/**
 * True if hosts have different provisional changes, or a provisional change that differs from the desired
 * plans.
 */
function isConflicting(active: ActiveProvisionalChanges, plans: readonly NodePlan[]): boolean {
  const digests = new Map(plans.map((plan) => [plan.host, computeDigest(plan)]))
  const ids = new Set([...active.values()].map(({ id }) => id))
  return ids.size > 1 || [...active].some(([host, { plan }]) => digests.get(host) !== plan)
}

/**
 * Lists changes to cluster objects and addons. Smoke test pods of an interrupted run are left out, because
 * they are not part of the change.
 */
function listClusterChanges({ clusterChanges, addons }: Proposal): string[] {
  return [
    ...describeObjectChanges(clusterChanges.filter(({ kind }) => kind !== 'smoke-test')),
    ...addons.differences.filter(isFeasible).map(({ addon }) => `addon ${addon}`),
  ]
}

function listPublicKeys(inputs: ClusterInputs): string[] {
  const { cas, kubernetesSigner, serviceAccountKeys } = toPublicIdentity(
    inputs.identity,
    collectSecrets(inputs),
  )
  const bundles = [...Object.values(cas), kubernetesSigner, serviceAccountKeys]
  return bundles.flatMap((bundle) => bundle.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [])
}

/** Provisional change of each host, by host name. */
export type ProvisionalChangesByHost = ReadonlyMap<string, HostProvisionalChange>
type InState<S extends HostProvisionalChange['state']> = Extract<HostProvisionalChange, { state: S }>
type ActiveProvisionalChanges = ReadonlyMap<string, InState<'provisional'>>

export function selectActiveProvisional(changes: ProvisionalChangesByHost): ActiveProvisionalChanges {
  return new Map(
    [...changes].flatMap(([host, change]) => (change.state === 'provisional' ? [[host, change]] : [])),
  )
}

export function selectRolledBack(
  changes: ProvisionalChangesByHost,
): ReadonlyMap<string, InState<'rolled-back'>> {
  return new Map(
    [...changes].flatMap(([host, change]) => (change.state === 'rolled-back' ? [[host, change]] : [])),
  )
}

/** Formats the earliest deadline: the time when the first host begins to roll back. */
export function formatFirstDeadline(changes: ActiveProvisionalChanges): string {
  return formatTimestamp([...changes.values()].map(({ deadline }) => deadline).toSorted()[0] ?? '')
}

/** Formats a timestamp without fractions of a second. */
export function formatTimestamp(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}

/**
 * Reports active provisional changes. Commands that only read use severity `warning`. Commands that change
 * hosts use `error`, because the hosts may roll back at any moment.
 */
export function checkActiveProvisional(
  changes: ProvisionalChangesByHost,
  severity: Finding['severity'],
): Finding[] {
  const active = selectActiveProvisional(changes)
  if (active.size === 0) return []
  const hosts = [...active.keys()]
  return [
    {
      code: 'PROVISIONAL_PENDING',
      severity,
      message: `${formatNames(hosts)} ${hosts.length === 1 ? 'has' : 'have'} a provisional change until ${formatFirstDeadline(active)}, and then ${hosts.length === 1 ? 'rolls' : 'roll'} back`,
      hint: 'to keep it: hyperkube provisional confirm; to undo it now: hyperkube provisional rollback; the same hyperkube up --provisional resumes it',
    },
  ]
}
