import type { StepResult } from '../../lifecycle/agents/event-stream.ts'

export type StepStatus = 'pending' | 'running' | Exclude<StepResult['outcome'], 'unchanged'>

/** State of a step. Times are milliseconds since 1970 by the operator's clock. */
export interface StepState {
  readonly id: string
  readonly title: string
  readonly hosts: readonly string[]
  /** True if the step changes hosts; false if it only reads or prepares. */
  readonly isCounted: boolean
  /** Position among the counted steps, as in the confirmed plan. */
  readonly number: number
  readonly status: StepStatus
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
}

export interface WaitState {
  readonly for: string
  readonly since: number
}
