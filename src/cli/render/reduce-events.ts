import type { Event } from '../../contract/event.ts'
import { hostAfter, newHost, statusOf } from './host-state.ts'
import { type FailedThing, logKey, type RunState, type StepState } from './run-state.ts'

/** While some events are taken in, one after the other. */
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
 * What some more events tell. Many at once cost one copy of the state and not one each: thousands of hosts tell of
 * themselves every second. Who wants to see the state after each of them must not keep it.
 */
export function reduce(
  state: RunState,
  events: readonly Event[],
  seen?: (state: RunState, event: Event) => void,
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
    takeIn(draft, event)
    seen?.(draft, event)
  }
  return draft
}

function takeIn(draft: Draft, event: Event): void {
  const { what, host, component } = event
  const time = Date.parse(event.time)
  switch (what.type) {
    case 'run-started':
      draft.command = what.command
      draft.begun = time
      return
    case 'steps-planned':
      begin(draft, numbered(what.steps.map(pending)), time)
      return
    case 'step-started':
      if (host === undefined) beginStep(draft, what.step, time)
      else beginHost(draft, host, time)
      return
    case 'step-ended':
      if (what.result.outcome === 'failed') fail(draft, event, what.result.failure)
      if (host === undefined) endStep(draft, what.step, statusOf(what.result.outcome), time)
      else onHost(draft, event, host, time)
      return
    case 'op-ended':
      if (what.result.outcome === 'failed') fail(draft, event, what.result.failure)
      if (what.result.outcome === 'done') {
        draft.changes++
        if (host !== undefined) draft.changedHosts.add(host)
      }
      if (host !== undefined) onHost(draft, event, host, time)
      return
    case 'waiting':
      if (host === undefined) draft.wait = { for: what.for, since: Date.parse(what.since) }
      else onHost(draft, event, host, time)
      return
    case 'op-started':
    case 'progress':
      if (host !== undefined) onHost(draft, event, host, time)
      return
    case 'stopping':
      draft.stopping ??= what.because
      return
    case 'finding':
      draft.findings.push(what.finding)
      return
    case 'log':
      draft.logs.set(logKey(host, component), what.lines)
      return
    default:
      if (what.result.outcome === 'failed') fail(draft, event, what.result.failure)
      // Whatever nobody saw the end of was cut short.
      if (draft.running !== undefined) endStep(draft, draft.running, 'interrupted', time)
      draft.ended = { time, outcome: what.result.outcome }
  }
}

function pending({ step, title, hosts, stage }: PlannedStep): StepState {
  return {
    id: step,
    title,
    hosts,
    counts: stage !== undefined,
    number: 0,
    status: 'pending',
    begun: undefined,
    ended: undefined,
  }
}
type PlannedStep = Extract<Event['what'], { type: 'steps-planned' }>['steps'][number]

function numbered(steps: readonly StepState[]): StepState[] {
  let last = 0
  return steps.map((step) => (step.counts ? { ...step, number: ++last } : step))
}

function begin(draft: Draft, steps: StepState[], time: number): void {
  draft.section++
  draft.sectionBegun = time
  draft.steps = steps
  draft.running = undefined
  draft.hosts = new Map()
  draft.wait = undefined
}

function beginStep(draft: Draft, id: string, time: number): void {
  draft.running = id
  draft.hosts = new Map()
  draft.wait = undefined
  change(draft, id, { status: 'running', begun: time })
}

/** What the step waited for before is so, or no host would have begun. */
function beginHost(draft: Draft, host: string, time: number): void {
  draft.hosts.set(host, newHost(time))
  draft.wait = undefined
}

function endStep(draft: Draft, id: string, status: StepState['status'], time: number): void {
  if (draft.running === id) draft.running = undefined
  draft.wait = undefined
  change(draft, id, { status, ended: time })
}

function change(draft: Draft, id: string, news: Partial<StepState>): void {
  const index = draft.steps.findIndex((step) => step.id === id)
  const step = draft.steps[index]
  if (step !== undefined) draft.steps[index] = { ...step, ...news }
}

function onHost(draft: Draft, { what, component }: Event, host: string, time: number): void {
  draft.hosts.set(host, hostAfter(draft.hosts.get(host) ?? newHost(time), what, component, time))
}

/** What came of a failure, and is no other one. */
const outcomes: ReadonlySet<string> = new Set(['ROLLOUT_WENT_BACK', 'ROLLOUT_NOT_BACK'])

/**
 * One failure is told by the op, then by the host, the step and the run: the first knows most of it. What was a finding
 * has been said already.
 */
function fail(draft: Draft, { what, host, component }: Event, failure: Failure): void {
  const step = what.type === 'step-ended' ? what.step : draft.running
  const isKnown = draft.failures.some((one) => {
    if (outcomes.has(failure.code)) return one.code === failure.code
    return what.type === 'run-ended' ? true : one.step === step && (host === undefined || one.host === host)
  })
  const isFinding = draft.findings.some(
    ({ code, message }) => code === failure.code && message === failure.message,
  )
  if (!isKnown && !isFinding) draft.failures.push({ ...failure, step, host, component })
}
type Failure = Pick<FailedThing, 'code' | 'message' | 'hint'>
