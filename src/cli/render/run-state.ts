import type { Finding } from '../../contract/finding.ts'
import type { StepFailure, StepResult, EventBody } from '../../lifecycle/agents/event-stream.ts'
import type { HostState } from './host-state.ts'
import type { StepState, WaitState } from './step-state.ts'

/** A failure with its step, host and component. */
export interface FailedItem extends StepFailure {
  readonly step: string | undefined
  readonly host: string | undefined
  readonly component: string | undefined
}

/** State of a run that the progress display needs. */
export interface RunState {
  readonly command: string
  readonly startedAt: number | undefined
  /**
   * Number of sections so far. A section is a group of steps that were planned together. The following fields
   * describe the last section.
   */
  readonly section: number
  readonly sectionStartedAt: number | undefined
  readonly steps: readonly StepState[]
  /** Id of the running step. */
  readonly running: string | undefined
  /**
   * Index of the running step; -1 if no step is running. Searching for the step would be slow, because a run
   * may have thousands of steps.
   */
  readonly runningIndex: number
  /** Hosts of the running step that have started. */
  readonly hosts: ReadonlyMap<string, HostState>
  /** Condition that the whole step waits for. */
  readonly wait: WaitState | undefined
  readonly failures: readonly FailedItem[]
  /** Last log lines of failed components, by host and component. */
  readonly logs: ReadonlyMap<string, readonly string[]>
  /** Findings of the whole run. */
  readonly findings: readonly Finding[]
  readonly changes: number
  readonly changedHosts: ReadonlySet<string>
  readonly stopping: Extract<EventBody, { type: 'stopping' }>['because'] | undefined
  readonly ended: { readonly time: number; readonly outcome: StepResult['outcome'] } | undefined
}

export const initialRunState: RunState = {
  command: '',
  startedAt: undefined,
  section: 0,
  sectionStartedAt: undefined,
  steps: [],
  running: undefined,
  runningIndex: -1,
  hosts: new Map(),
  wait: undefined,
  failures: [],
  logs: new Map(),
  findings: [],
  changes: 0,
  changedHosts: new Set(),
  stopping: undefined,
  ended: undefined,
}

/**
 * True if no further step of the current section will run. A section is a group of steps that were planned
 * together.
 */
export function isSectionOver({ steps, ended }: RunState): boolean {
  return ended !== undefined || steps.every(({ status }) => status === 'done')
}

/** True for a command over many clusters. Its steps have clusters in place of hosts. */
export function isFleetRun({ command }: Pick<RunState, 'command'>): boolean {
  return command.startsWith('fleet ')
}

/** Counts the steps that change hosts. */
export function countSteps({ steps }: Pick<RunState, 'steps'>): number {
  return steps.filter(({ isCounted }) => isCounted).length
}

export function runningStep({ steps, runningIndex }: RunState): StepState | undefined {
  return steps[runningIndex]
}

export function buildLogKey(host: string | undefined, component: string | undefined): string {
  return `${host ?? ''}/${component ?? ''}`
}
