import type { HealAction } from '../../../contract/health.ts'

/** Actions to perform now on one component, in order. */
export interface HealStep {
  readonly component: string
  readonly actions: readonly HealAction['action'][]
  /** What was observed, as text for people. */
  readonly because: string
  readonly code?: string
}

/** True if the step interrupts a running service. Such a step counts against the budget of the host. */
export function isDisruptive({ actions }: HealStep): boolean {
  return actions.includes('restart')
}
