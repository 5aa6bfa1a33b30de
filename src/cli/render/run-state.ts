import type { Finding } from '../../contract/finding.ts'
import type { Failure, Outcome, What } from '../../lifecycle/event-stream.ts'
import type { HostState } from './host-state.ts'

export type StepStatus = 'pending' | 'running' | Exclude<Outcome['outcome'], 'unchanged'>

/** Times are in milliseconds since 1970, of the operator's own clock. */
export interface StepState {
  readonly id: string
  readonly title: string
  readonly hosts: readonly string[]
  /** Whether hosts are taken further by it, and not only asked. */
  readonly counts: boolean
  /** Among those that count: the one it had when a person agreed to it. */
  readonly number: number
  readonly status: StepStatus
  readonly begun: number | undefined
  readonly ended: number | undefined
}

export interface Wait {
  readonly for: string
  readonly since: number
}

/** Something that failed, and on which host. */
export interface FailedThing extends Failure {
  readonly step: string | undefined
  readonly host: string | undefined
  readonly component: string | undefined
}

/** All that the events of a run have told so far, as far as somebody wants to see it. */
export interface RunState {
  readonly command: string
  readonly begun: number | undefined
  /** How often steps were planned. What is below belongs to the last time. */
  readonly section: number
  readonly sectionBegun: number | undefined
  readonly steps: readonly StepState[]
  /** The id of the step that runs. */
  readonly running: string | undefined
  /** Those of the step that runs, once they have begun. */
  readonly hosts: ReadonlyMap<string, HostState>
  /** What the step as a whole waits for. */
  readonly wait: Wait | undefined
  readonly failures: readonly FailedThing[]
  /** What failed components wrote last, by host and component. */
  readonly logs: ReadonlyMap<string, readonly string[]>
  /** Of the whole run. */
  readonly findings: readonly Finding[]
  readonly changes: number
  readonly changedHosts: ReadonlySet<string>
  readonly stopping: Extract<What, { type: 'stopping' }>['because'] | undefined
  readonly ended: { readonly time: number; readonly outcome: Outcome['outcome'] } | undefined
}

export const nothingYet: RunState = {
  command: '',
  begun: undefined,
  section: 0,
  sectionBegun: undefined,
  steps: [],
  running: undefined,
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

/** Whether there is nothing more to come of what was planned. */
export function isSectionOver({ steps, ended }: RunState): boolean {
  return ended !== undefined || steps.every(({ status }) => status === 'done')
}

/** How many there are that a person agreed to. */
export function countOf({ steps }: Pick<RunState, 'steps'>): number {
  return steps.filter(({ counts }) => counts).length
}

export function runningStep({ steps, running }: RunState): StepState | undefined {
  return running === undefined ? undefined : steps.find(({ id }) => id === running)
}

export function logKey(host: string | undefined, component: string | undefined): string {
  return `${host ?? ''}/${component ?? ''}`
}
