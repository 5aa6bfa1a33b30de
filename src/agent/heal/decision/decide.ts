import type { HealMemory } from '../../../contract/heal-state.ts'
import type { ComponentHealth, HealAction } from '../../../contract/health.ts'
import { spentOf } from './budget.ts'
import type { Look, Verdict } from './decision-input.ts'
import type { Climb } from './escalation.ts'
import { type ComponentSeen, localProbes } from './component-observation.ts'
import { inOrder } from './dependency-order.ts'
import { type HealStep, isDisturbing } from './heal-step.ts'
import { remembered } from './action-history.ts'
import type { UnitSeen } from './unit-observation.ts'
import { verdictOf } from './decide-component.ts'

export interface Decision {
  /** To be done now, in this order: no more than one component is disturbed in one look. */
  readonly steps: readonly HealStep[]
  /** What is only said. It is in the memory already. */
  readonly words: readonly HealAction[]
  /** To be written before anything is done. */
  readonly memory: HealMemory
  readonly components: readonly ComponentHealth[]
}

/** Decides what to do: a function of what is seen and remembered, and of nothing else. */
export function decide(look: Look): Decision {
  const { now, budget, memory } = look
  const all = new Map(look.components.map((one) => [one.component, one]))
  const spent = spentOf(memory.spent, budget, now)
  const [steps, words, components]: [HealStep[], HealAction[], ComponentHealth[]] = [[], [], []]
  const climbs: Record<string, Climb> = {}
  for (const seen of inOrder(look.components)) {
    const verdict = verdictOf({
      ...look,
      seen,
      all,
      left: budget.most - spent.length,
      waits: steps.some(isDisturbing),
    })
    steps.push(...(verdict.steps ?? []))
    words.push(...(verdict.words ?? []))
    if (verdict.climb !== undefined) climbs[seen.component] = verdict.climb
    components.push(healthOf(seen, verdict, look))
  }
  const at = new Date(now).toISOString()
  const disturbs = steps.filter(isDisturbing).map(() => at)
  return {
    steps,
    words,
    components,
    memory: { ...remembered(memory, words), climbs, spent: [...spent, ...disturbs] },
  }
}

function healthOf(seen: ComponentSeen, verdict: Verdict, { began }: Look): ComponentHealth {
  const { state, because, code, climb } = verdict
  const { component, unit, beyond } = seen
  return {
    component,
    state,
    since: state === 'well' || climb === undefined ? wellSince(seen, began) : climb.since,
    ...(because === undefined ? {} : { because }),
    ...(code === undefined ? {} : { code }),
    ...(unit === undefined ? {} : { service: serviceOf(unit) }),
    drift: [...beyond],
  }
}

function wellSince(seen: ComponentSeen, began: number): string {
  const times = localProbes(seen).map(({ since }) => since)
  // Of the same form, they are in the order of time.
  return times.toSorted().at(-1) ?? new Date(seen.unit?.changed ?? began).toISOString()
}

function serviceOf({ name, state }: UnitSeen): NonNullable<ComponentHealth['service']> {
  const { active, sub, restarts, enabled } = state
  return { name, active, sub, restarts, enabled }
}
