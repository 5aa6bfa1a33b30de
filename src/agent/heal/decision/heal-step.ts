import type { HealAction } from '../../../contract/health.ts'

/** Actions to perform on one component now, in this order. */
export interface HealStep {
  readonly component: string
  readonly actions: readonly HealAction['action'][]
  /** For people: what was observed. */
  readonly because: string
  readonly code?: string
}

/** Whether the step interrupts a running service, and so counts against the host's budget. */
export function isDisruptive({ actions }: HealStep): boolean {
  return actions.includes('restart')
}
