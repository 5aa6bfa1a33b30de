import type { ComponentHealth, HealAction, HealState } from '../../../contract/health.ts'
import { recordActions } from './action-history.ts'
import { sortByDependencies } from './dependencies.ts'
import { type ComponentObservation, listLocalProbes, type UnitObservation } from './component-observation.ts'
import { decideComponent } from './decide-component.ts'
import { type ComponentDecision, type DecisionInput, type HealStep, isDisruptive } from './decision-input.ts'
import { filterRecentDisruptions } from './escalation-policy.ts'
import type { Escalation } from './escalation.ts'

export interface HealDecision {
  /** Steps to perform now, in order. At most one component is disrupted per round. */
  readonly steps: readonly HealStep[]
  /** Actions that are only reported. `healState` already includes them. */
  readonly notices: readonly HealAction[]
  /** New heal state. It must be written before any step is performed. */
  readonly healState: HealState
  readonly components: readonly ComponentHealth[]
}

/** Decides which components to heal and how. This is a pure function of its input. */
export function decideHealing(input: DecisionInput): HealDecision {
  const { now, budget, healState } = input
  const byName = new Map(input.components.map((one) => [one.component, one]))
  const recentDisruptions = filterRecentDisruptions(healState.disruptions, budget, now)
  const [steps, notices, components]: [HealStep[], HealAction[], ComponentHealth[]] = [[], [], []]
  const escalations: Record<string, Escalation> = {}
  for (const observed of sortByDependencies(input.components)) {
    const decision = decideComponent({
      ...input,
      observed,
      byName,
      budgetLeft: budget.max - recentDisruptions.length,
      hasDisruption: steps.some(isDisruptive),
    })
    steps.push(...(decision.steps ?? []))
    notices.push(...(decision.notices ?? []))
    if (decision.escalation !== undefined) escalations[observed.component] = decision.escalation
    components.push(toComponentHealth(observed, decision, input))
  }
  const at = new Date(now).toISOString()
  const disruptions = steps.filter(isDisruptive).map(() => at)
  return {
    steps,
    notices,
    components,
    healState: {
      ...recordActions(healState, notices),
      escalations,
      disruptions: [...recentDisruptions, ...disruptions],
    },
  }
}

function toComponentHealth(
  observed: ComponentObservation,
  decision: ComponentDecision,
  { observedSince }: DecisionInput,
): ComponentHealth {
  const { state, because, code, escalation } = decision
  const { component, unit, unrepairable } = observed
  return {
    component,
    state,
    since:
      state === 'healthy' || escalation === undefined
        ? findHealthySince(observed, observedSince)
        : escalation.since,
    ...(because === undefined ? {} : { because }),
    ...(code === undefined ? {} : { code }),
    ...(unit === undefined ? {} : { service: toServiceHealth(unit) }),
    drift: [...unrepairable],
  }
}

function findHealthySince(observed: ComponentObservation, observedSince: number): string {
  const times = listLocalProbes(observed).map(({ since }) => since)
  // ISO timestamps of the same format sort by time.
  return times.toSorted().at(-1) ?? new Date(observed.unit?.changed ?? observedSince).toISOString()
}

function toServiceHealth({ name, state }: UnitObservation): NonNullable<ComponentHealth['service']> {
  const { active, sub, restarts, enabled } = state
  return { name, active, sub, restarts, enabled }
}
