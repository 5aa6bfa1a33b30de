import type { Stage } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { canReturn } from '../../contract/predecessor.ts'
import { computeDigest } from '../../diff/resource.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { buildRollbackPlan, selectRollbackStages } from '../../rollout/rollback.ts'
import type { ApplyStep } from '../../rollout/step.ts'
import type { Session } from '../agents/session.ts'

export interface RollbackDeps {
  /** Plans by host name. */
  readonly plans: ReadonlyMap<string, NodePlan>
  readonly sessions: ReadonlyMap<string, Session>
  /** Applies a plan to a host up to and including the stage of the step. */
  readonly apply: (session: Session, plan: NodePlan) => Promise<void>
  readonly isEtcdHealthy: () => Promise<boolean>
  /** Waits until the hosts of the step are healthy again. */
  readonly waitUntilHealthy: () => Promise<void>
}

/**
 * Rolls back a failed step: its hosts get their previous plans for the stages of the step. Returns the error
 * to report, which is the original error if no host has a previous plan.
 */
export async function rollbackStep(step: ApplyStep, error: unknown, deps: RollbackDeps): Promise<unknown> {
  const rollback = await findPreviousPlans(step, deps)
  if (rollback.size === 0) return error
  const names = [...rollback.keys()].join(', ')
  // Only the first line is needed, because the host has already reported the other lines.
  const [reason = ''] = formatError(error).split('\n')
  try {
    await settleAll(
      [...rollback].map(async ([host, plan]) => {
        const session = deps.sessions.get(host)
        if (session !== undefined) await deps.apply(session, plan)
      }),
    )
    await deps.waitUntilHealthy()
  } catch (rollbackError) {
    return new HyperkubeError(
      'ROLLBACK_FAILED',
      `${reason}; the rollback of ${names} failed too: ${formatError(rollbackError)}`,
      { hint: 'check the hosts: hyperkube status', cause: error },
    )
  }
  return new HyperkubeError('ROLLOUT_ROLLED_BACK', `${reason}; the rollback of ${names} succeeded`, {
    hint: 'no other host was changed after the failure; fix the cause, then: hyperkube up',
    cause: error,
  })
}

async function findPreviousPlans(
  step: ApplyStep,
  deps: RollbackDeps,
): Promise<ReadonlyMap<string, NodePlan>> {
  const all = await settleAll(
    step.hosts.map(async (host) => {
      const [plan, session] = [deps.plans.get(host), deps.sessions.get(host)]
      if (plan === undefined || session === undefined) return []
      const previous = await session.request(
        { type: 'previous-plan', differentFrom: computeDigest(plan) },
        'previous-plan',
      )
      const before = previous.plan ?? findPlanBeforeMove(plan)
      if (before === undefined) return []
      const stages = await findStagesToRollBack(step, plan, session, deps)
      const rollback = buildRollbackPlan(plan, before, stages)
      return rollback === undefined ? [] : [[host, rollback] as const]
    }),
  )
  return new Map(all.flat())
}

/** Returns a plan without components if the host has just begun to replace what another tool installed. */
function findPlanBeforeMove(plan: NodePlan): NodePlan | undefined {
  return canReturn(plan.components) ? { ...plan, components: [] } : undefined
}

async function findStagesToRollBack(
  { stages }: ApplyStep,
  plan: NodePlan,
  session: Session,
  { isEtcdHealthy }: RollbackDeps,
): Promise<readonly Stage[]> {
  if (!stages.includes('etcd')) return stages
  const { ops } = await session.request({ type: 'diff', plan }, 'diff')
  return selectRollbackStages(stages, ops, await isEtcdHealthy())
}
