import type { HealMemory } from '../../../contract/heal-state.ts'
import type { ComponentHealth, HealAction } from '../../../contract/health.ts'
import type { Budget } from './budget.ts'
import type { Climb } from './escalation.ts'
import type { ComponentSeen } from './component-observation.ts'
import type { Ladder } from './escalation-policy.ts'
import type { HealStep } from './heal-step.ts'

/** All that a decision depends on. */
export interface Look {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Since when somebody looks. */
  readonly began: number
  readonly components: readonly ComponentSeen[]
  readonly memory: HealMemory
  readonly ladder: Ladder
  readonly budget: Budget
  /** Why nothing is done at present, whatever is found. */
  readonly idle?: { readonly because: string; readonly code?: string } | undefined
}

/** One component, of all that is looked at. */
export interface Case extends Look {
  readonly seen: ComponentSeen
  /** All of them, by name. */
  readonly all: ReadonlyMap<string, ComponentSeen>
  /** How many disturbing steps the budget still has. */
  readonly left: number
  /** Whether something disturbs the host already: the next one comes with the next look. */
  readonly waits: boolean
}

/** What is said of a component, and what is done to it. */
export interface Verdict {
  readonly state: ComponentHealth['state']
  readonly because?: string
  readonly code?: string
  readonly steps?: readonly HealStep[]
  readonly words?: readonly HealAction[]
  /** None when nothing is to be kept of it. */
  readonly climb: Climb | undefined
}
