import type { HealAction } from '../../../contract/health.ts'

/** What is to be done to one component now, in this order. */
export interface HealStep {
  readonly component: string
  readonly actions: readonly HealAction['action'][]
  /** For people: what was seen. */
  readonly because: string
  readonly code?: string
}

/** Whether it interrupts what runs, and so counts against the host's budget. */
export function isDisturbing({ actions }: HealStep): boolean {
  return actions.includes('restart')
}
