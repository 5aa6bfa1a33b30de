import type { NodePlan } from '../../contract/node-plan.ts'
import type { Claim } from '../../contract/request.ts'
import { canReturn } from '../../contract/predecessor.ts'
import { createSemaphore, settleAll } from '../../kit/concurrency.ts'
import { formatError } from '../../kit/errors.ts'
import type { Secret } from '../../pki/secret.ts'
import { toJoiningPlan } from '../../plan/linux/etcd.ts'
import type { ApplyStep, RemoveStep } from '../../rollout/step.ts'
import type { HostCertificates } from '../agents/certificates.ts'
import { type EmitEvent, reportStep } from '../agents/event-stream.ts'
import { applyPlanThrough } from '../agents/run-on-agent.ts'
import { maxPlanRequests } from '../agents/plan-requests.ts'
import type { Session } from '../agents/session.ts'
import type { ClusterClient } from '../cluster-client/cluster-client.ts'
import { drainTimeoutMs } from '../drain/drain.ts'
import type { ClusterWaitOptions } from '../etcd/membership.ts'
import { type MembershipClient, removeClusterHost } from './remove-host.ts'
import { rollbackStep } from './rollback-step.ts'

export interface RunStepOptions {
  readonly claim: Claim
  /** Called when a host has been removed and no longer needs the operator lock. */
  readonly onRemoved: (host: string) => void
  /** Sessions of the hosts to remove, as far as they are reachable. */
  readonly removedSessions: ReadonlyMap<string, Session>
  readonly client: MembershipClient & Pick<ClusterClient, 'etcdHealthy' | 'prepareEtcdUpgrade'>
  readonly emit: EmitEvent
  readonly now: () => Date
  readonly signal: AbortSignal
}

/**
 * Milliseconds to wait until a new etcd member has joined and is promoted. Long, because the member may have
 * to copy a large database.
 */
const joinTimeoutMs = 600_000

/** Builds the options of a wait for one host, which reports its reasons as events. */
export function buildWaitOptions(
  timeoutMs: number,
  { emit, now, signal }: Pick<RunStepOptions, 'emit' | 'now' | 'signal'>,
  host: string,
): ClusterWaitOptions {
  const waiting: ClusterWaitOptions['waiting'] = (reason, since) =>
    emit({ type: 'waiting', for: reason, since }, { host })
  return { waiting, timeoutMs, now, signal }
}

export async function runRemoveStep(step: RemoveStep, options: RunStepOptions): Promise<void> {
  const { removedSessions, client, claim, onRemoved, emit } = options
  const { host, id } = step
  emit({ type: 'step-started', step: id }, { host })
  await reportStep(options, { step: id, host }, async () =>
    removeClusterHost(step, {
      client,
      session: removedSessions.get(host),
      claim,
      onRemoved,
      emit,
      wait: buildWaitOptions(drainTimeoutMs, options, host),
    }),
  )
}

/** Inputs that a step needs to apply plans. */
export interface StepInputs {
  /** Plans by host name. */
  readonly plans: ReadonlyMap<string, NodePlan>
  /** Every secret file of the cluster. */
  readonly secrets: ReadonlyMap<string, Secret>
  readonly sessions: ReadonlyMap<string, Session>
  readonly certificates: HostCertificates
  /** Waits until all gates pass. */
  readonly passGates: (gates: ApplyStep['after']) => Promise<void>
}

/**
 * Applies a stage to the hosts of a step. Drains the hosts first if `drain` is set, prepares etcd
 * members for another version, takes etcd leadership from members that restart, and adds new etcd members before they start. A failed disruptive step is rolled
 * back.
 */
export async function runApplyStep(
  step: ApplyStep,
  stepInputs: StepInputs,
  options: RunStepOptions,
): Promise<void> {
  const { client, signal } = options
  if (step.drain) {
    await settleAll(
      step.hosts.map(async (host) =>
        client.drain(host, { ...buildWaitOptions(drainTimeoutMs, options, host), lost: false }),
      ),
    )
  }
  if (step.disruptive && step.stages.includes('etcd')) {
    for (const host of step.hosts) {
      const etcd = stepInputs.plans.get(host)?.components.find(({ name }) => name === 'etcd')
      if (etcd?.version === undefined) continue
      const next = { version: etcd.version, canReturn: canReturn([etcd]) }
      await client.prepareEtcdUpgrade(host, next, buildWaitOptions(joinTimeoutMs, options, host))
    }
    // A failed transfer does not fail the step: etcd transfers leadership itself when it stops.
    await settleAll(step.hosts.map(async (host) => client.releaseEtcdLeadership(host).catch(() => undefined)))
  }
  const failed = new Set<string>()
  try {
    await applyWithEtcdJoin(step, stepInputs, options, failed)
    await stepInputs.passGates(step.after)
  } catch (error) {
    if (signal.aborted || !step.disruptive) throw error
    throw await rollbackStep(failed.size === 0 ? step : { ...step, hosts: [...failed] }, error, {
      ...stepInputs,
      apply: async (session, plan) =>
        applyPlanThrough(session, buildDelivery(plan, stepInputs, options), step.stage, options.emit),
      async isEtcdHealthy() {
        const members = step.after.flatMap((gate) => (gate.kind === 'etcd-healthy' ? gate.members : []))
        return (await client.etcdHealthy(members).catch(formatError)) === undefined
      },
      async waitUntilHealthy() {
        await stepInputs.passGates(selectRollbackGates(step, stepInputs.plans))
        await uncordonAll(step, options)
      },
    })
  }
  await uncordonAll(step, options)
}

/**
 * Selects the gates after a rollback. Controllers of kubeadm have certificates of no CA, so they cannot be
 * checked on hosts that return to kubeadm.
 */
function selectRollbackGates(
  { hosts, after }: ApplyStep,
  plans: ReadonlyMap<string, NodePlan>,
): ApplyStep['after'] {
  return hosts.some((host) => canReturn(plans.get(host)?.components ?? []))
    ? after.filter(({ kind }) => kind !== 'controllers-ready')
    : after
}

async function applyWithEtcdJoin(
  step: ApplyStep,
  stepInputs: StepInputs,
  options: RunStepOptions,
  failed: Set<string>,
): Promise<void> {
  const { client } = options
  const joining = step.after.flatMap((gate) => (gate.kind === 'etcd-member-promoted' ? [gate.host] : []))
  let { plans } = stepInputs
  for (const host of joining) {
    const members = await client.joinEtcd(host, buildWaitOptions(joinTimeoutMs, options, host))
    const plan = plans.get(host)
    if (plan !== undefined) plans = new Map([...plans, [host, toJoiningPlan(plan, members)]])
  }
  await applyToHosts(step, { ...stepInputs, plans }, options, failed)
  for (const host of joining) await client.promote(host, buildWaitOptions(joinTimeoutMs, options, host))
}

/** Uncordons the hosts of a step that drained them. */
async function uncordonAll({ hosts, drain }: ApplyStep, { client }: RunStepOptions): Promise<void> {
  if (drain) await settleAll(hosts.map(async (host) => client.uncordon(host)))
}

/** Applies the stage to all hosts of a step concurrently. Adds hosts that fail to `failed`. */
async function applyToHosts(
  { id, stage, hosts }: ApplyStep,
  stepInputs: StepInputs,
  options: RunStepOptions,
  failed: Set<string>,
): Promise<void> {
  const { plans, sessions } = stepInputs
  const { emit } = options
  const sendLimited = createSemaphore(maxPlanRequests)
  await settleAll(
    hosts.flatMap((host) => {
      const [plan, session] = [plans.get(host), sessions.get(host)]
      if (plan === undefined || session === undefined) return []
      emit({ type: 'step-started', step: id, stage }, { host })
      const done = reportStep(options, { step: id, host }, async () =>
        applyPlanThrough(session, { ...buildDelivery(plan, stepInputs, options), sendLimited }, stage, emit),
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

function buildDelivery(
  plan: NodePlan,
  { secrets, certificates }: StepInputs,
  { claim }: RunStepOptions,
): Parameters<typeof applyPlanThrough>[1] {
  return { plan, claim, secrets, certificates: certificates.get(plan.host) ?? {} }
}
