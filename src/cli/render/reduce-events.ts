import type { Event } from '../../contract/event.ts'
import { applyHostEvent, createHostState, toStepStatus } from './host-state.ts'
import { type FailedItem, buildLogKey, type RunState } from './run-state.ts'
import type { StepState } from './step-state.ts'

/** Mutable copy of the state while events are applied. */
type Draft = {
  -readonly [K in keyof RunState]: RunState[K] extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Value>
    : RunState[K] extends ReadonlySet<infer Member>
      ? Set<Member>
      : RunState[K] extends readonly (infer Member)[]
        ? Member[]
        : RunState[K]
}

/**
 * Applies events to a state. The state is copied once per batch, because thousands of hosts send events every
 * second. `onEvent` gets the state after each event and must not keep it.
 */
export function reduceEvents(
  state: RunState,
  events: readonly Event[],
  onEvent?: (state: RunState, event: Event) => void,
): RunState {
  const draft: Draft = {
    ...state,
    steps: [...state.steps],
    hosts: new Map(state.hosts),
    failures: [...state.failures],
    logs: new Map(state.logs),
    findings: [...state.findings],
    changedHosts: new Set(state.changedHosts),
  }
  for (const event of events) {
    applyEvent(draft, event)
    onEvent?.(draft, event)
  }
  return draft
}

function applyEvent(draft: Draft, event: Event): void {
  const { body, host, component } = event
  const time = Date.parse(event.time)
  switch (body.type) {
    case 'run-started':
      draft.command = body.command
      draft.startedAt = time
      return
    case 'steps-planned':
      startSection(draft, numberSteps(body.steps.map(toPendingStep)), time)
      return
    case 'step-started':
      if (host === undefined) startStep(draft, body.step, time)
      else startHost(draft, host, time)
      return
    case 'step-ended':
      if (body.result.outcome === 'failed') recordFailure(draft, event, body.result.failure)
      if (host === undefined) endStep(draft, body.step, toStepStatus(body.result.outcome), time)
      else updateHost(draft, event, host, time)
      return
    case 'op-ended':
      if (body.result.outcome === 'failed') recordFailure(draft, event, body.result.failure)
      if (body.result.outcome === 'done') {
        draft.changes++
        if (host !== undefined) draft.changedHosts.add(host)
      }
      if (host !== undefined) updateHost(draft, event, host, time)
      return
    case 'waiting':
      if (host === undefined) draft.wait = { for: body.for, since: Date.parse(body.since) }
      else updateHost(draft, event, host, time)
      return
    case 'op-started':
    case 'progress':
      if (host !== undefined) updateHost(draft, event, host, time)
      return
    case 'stopping':
      draft.stopping ??= body.because
      return
    case 'finding':
      draft.findings.push(body.finding)
      // The finding about an unreachable host replaces the failure of the connection, so that the error is
      // shown only once.
      draft.failures = draft.failures.filter(
        ({ step, code }) => step !== 'reach' || code !== body.finding.code,
      )
      return
    case 'log':
      draft.logs.set(buildLogKey(host, component), body.lines)
      return
    default:
      if (body.result.outcome === 'failed') recordFailure(draft, event, body.result.failure)
      // A step without an end event was interrupted.
      if (draft.running !== undefined) endStep(draft, draft.running, 'interrupted', time)
      draft.ended = { time, outcome: body.result.outcome }
  }
}

function toPendingStep({ step, title, hosts, stage }: PlannedStep): StepState {
  return {
    id: step,
    title,
    hosts,
    isCounted: stage !== undefined,
    number: 0,
    status: 'pending',
    startedAt: undefined,
    endedAt: undefined,
  }
}
type PlannedStep = Extract<Event['body'], { type: 'steps-planned' }>['steps'][number]

function numberSteps(steps: readonly StepState[]): StepState[] {
  let last = 0
  return steps.map((step) => (step.isCounted ? { ...step, number: ++last } : step))
}

function startSection(draft: Draft, steps: StepState[], time: number): void {
  draft.section++
  draft.sectionStartedAt = time
  draft.steps = steps
  draft.running = undefined
  draft.runningIndex = -1
  draft.hosts = new Map()
  draft.wait = undefined
}

function startStep(draft: Draft, id: string, time: number): void {
  draft.running = id
  draft.hosts = new Map()
  draft.wait = undefined
  draft.runningIndex = updateStep(draft, id, { status: 'running', startedAt: time })
}

/**
 * Marks a host as started and ends the wait of the step. Hosts start only after the condition of this wait is
 * met.
 */
function startHost(draft: Draft, host: string, time: number): void {
  draft.hosts.set(host, createHostState(time))
  draft.wait = undefined
}

function endStep(draft: Draft, id: string, status: StepState['status'], time: number): void {
  if (draft.running === id) {
    draft.running = undefined
    draft.runningIndex = -1
  }
  draft.wait = undefined
  updateStep(draft, id, { status, endedAt: time })
}

/** Changes a step and returns its position; -1 if there is no such step. */
function updateStep(draft: Draft, id: string, patch: Partial<StepState>): number {
  const index = draft.steps.findIndex((step) => step.id === id)
  const step = draft.steps[index]
  if (step !== undefined) draft.steps[index] = { ...step, ...patch }
  return index
}

function updateHost(draft: Draft, { body, component }: Event, host: string, time: number): void {
  draft.hosts.set(host, applyHostEvent(draft.hosts.get(host) ?? createHostState(time), body, component, time))
}

/** Codes that report the outcome of a rollback after an earlier failure. */
const resultCodes: ReadonlySet<string> = new Set(['ROLLOUT_ROLLED_BACK', 'ROLLBACK_FAILED'])

/**
 * Records a failure once. Op, host, step and run report the same failure, and the first report has the most
 * details. Failures that were printed as findings are skipped.
 */
function recordFailure(draft: Draft, { body, host, component }: Event, failure: FailureDetails): void {
  const step = body.type === 'step-ended' ? body.step : draft.running
  const isKnown = draft.failures.some((known) => {
    if (resultCodes.has(failure.code)) return known.code === failure.code
    return body.type === 'run-ended'
      ? true
      : known.step === step && (host === undefined || known.host === host)
  })
  const isFinding = draft.findings.some(
    ({ code, message }) => code === failure.code && message === failure.message,
  )
  if (!isKnown && !isFinding) draft.failures.push({ ...failure, step, host, component })
}
type FailureDetails = Pick<FailedItem, 'code' | 'message' | 'hint'>
