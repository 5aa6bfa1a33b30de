import type { HealState } from '../../contract/heal-state.ts'
import type { HealAction } from '../../contract/health.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { formatError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/printable.ts'
import type { LinuxHost } from '../host/host.ts'
import type { LockedByOtherDeps } from '../loop/is-locked-by-other.ts'
import type { TickResult } from '../loop/run-loop.ts'
import type { Runs } from '../runs/runs.ts'
import { type HealBudget } from './decision/budget.ts'
import { decideHealing } from './decision/decide.ts'
import type { EscalationPolicy } from './decision/escalation-policy.ts'
import type { HealStep } from './decision/heal-step.ts'
import { recordActions } from './decision/action-history.ts'
import type { HealOperations } from './heal-operations.ts'
import { findSuspension } from './suspension.ts'
import type { HealStateStore } from './heal-state-store.ts'
import type { HostWatch } from './watch-host.ts'

/** Milliseconds between healing rounds if nothing changes. */
export const healIntervalMs = 5000

export interface HealLoopDeps extends LockedByOtherDeps {
  readonly host: LinuxHost
  readonly runs: Pick<Runs, 'busy'>
  readonly operations: HealOperations
  readonly watch: HostWatch
  readonly stateStore: HealStateStore
  readonly policy: EscalationPolicy
  readonly budget: HealBudget
  /** Time at which the agent began to observe the host, in milliseconds since 1970. */
  readonly observedSince: number
  readonly signal: AbortSignal
}

/**
 * Runs one healing round. `hasChanges` is true if the state of a probe or a pause has changed since the last
 * round.
 */
export async function healOnce(deps: HealLoopDeps, hasChanges: boolean): Promise<TickResult> {
  const { host, operations, watch, stateStore, signal } = deps
  const observed = await watch.observe(hasChanges ? 'news' : 'usual', signal)
  if (observed === undefined) return { nextMs: healIntervalMs, problems: [] }
  const { plan, digest, components } = observed
  const problems: unknown[] = []
  // A full disk may be the problem to heal, so healing continues with the state in memory.
  const saveState = async (next: (before: HealState) => HealState): Promise<void> =>
    stateStore.update(next).catch((error: unknown) => void problems.push(error))
  await saveState((before) =>
    before.plan === digest ? before : { ...before, plan: digest, escalations: {} },
  )
  const suspended = await findSuspension(deps, stateStore.current)
  const now = host.clock.now().getTime()
  const {
    steps,
    notices,
    healState: next,
  } = decideHealing({ ...deps, now, components, healState: stateStore.current, suspended })
  // The state is written before any step. Otherwise an agent that dies during a step would begin the
  // escalation again.
  await saveState(() => next)
  for (const notice of notices) operations.report(notice)
  for (const step of steps) {
    // Stop if an operator has claimed the host or paused healing since the decision. A busy run is no reason
    // to stop, because runs wait for each other.
    if ((await findSuspension({ ...deps, runs: { busy: false } }, stateStore.current)) !== undefined) break
    const actions = await performSafely(deps, plan, step)
    watch.invalidate()
    for (const action of actions) operations.report(action)
    await saveState((before) => recordActions(before, actions))
  }
  return { nextMs: healIntervalMs, problems }
}

async function performSafely(
  { host, operations, signal }: HealLoopDeps,
  plan: NodePlan,
  step: HealStep,
): Promise<readonly HealAction[]> {
  try {
    return await operations.perform(plan, step, signal)
  } catch (error) {
    signal.throwIfAborted()
    const { component, because, code } = step
    const at = host.clock.now().toISOString()
    const failure = { outcome: 'failed', details: [toPrintable(formatError(error))] } as const
    const reason = { because, ...(code === undefined ? {} : { code }) }
    return step.actions.map((action) => ({
      at,
      component,
      action,
      ...reason,
      ...failure,
      details: [...failure.details],
    }))
  }
}
