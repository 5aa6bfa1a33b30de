import type { Stage } from '../../../contract/component-plan.ts'
import type { Event } from '../../../contract/event.ts'
import type { Op } from '../../../contract/op.ts'
import type { EventBody, EventSubject } from '../../../lifecycle/agents/event-stream.ts'

/** Start time of every recorded run. */
export const recordingStart = Date.parse('2026-11-15T05:00:00Z')

/** Seconds since the start, and the event with its host and component. */
export type RecordedEvent = readonly [
  seconds: number,
  what: EventBody,
  host?: string | undefined,
  component?: string | undefined,
]

/** Converts recorded entries to the events of a run. */
export function toEvents(entries: readonly RecordedEvent[]): Event[] {
  return entries.map(([seconds, body, host, component], index) => ({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Event',
    run: '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d',
    sequence: index + 1,
    time: timeAt(seconds),
    ...toSubject(host, component),
    body,
  }))
}

export function timeAt(seconds: number): string {
  return new Date(recordingStart + seconds * 1000).toISOString()
}

function toSubject(host: string | undefined, component: string | undefined): EventSubject {
  return { ...(host === undefined ? {} : { host }), ...(component === undefined ? {} : { component }) }
}

export const runStarted: RecordedEvent = [0, { type: 'run-started', command: 'up' }]

/** Events of a step without a stage, from its start to its end. */
export function singleStep(
  from: number,
  to: number,
  step: string,
  title: string,
  hosts: readonly string[],
): RecordedEvent[] {
  return [
    [from, { type: 'steps-planned', steps: [{ step, title, hosts: [...hosts] }] }],
    [from, { type: 'step-started', step }],
    [to, { type: 'step-ended', step, result: { outcome: 'done' } }],
  ]
}

export interface StepFixture {
  readonly step: string
  readonly title: string
  readonly stage: Stage
  readonly hosts: readonly string[]
}

export function stepsPlanned(seconds: number, steps: readonly StepFixture[]): RecordedEvent {
  return [
    seconds,
    { type: 'steps-planned', steps: steps.map((step) => ({ ...step, hosts: [...step.hosts] })) },
  ]
}

export function stepStarts(seconds: number, { step, stage, hosts }: StepFixture): RecordedEvent[] {
  return [
    [seconds, { type: 'step-started', step, stage }],
    ...hosts.map((host): RecordedEvent => [seconds, { type: 'step-started', step, stage }, host]),
  ]
}

export function hostEnds(seconds: number, { step }: StepFixture, host: string): RecordedEvent {
  return [seconds, { type: 'step-ended', step, result: { outcome: 'done' } }, host]
}

export function stepEnds(seconds: number, { step }: StepFixture): RecordedEvent {
  return [seconds, { type: 'step-ended', step, result: { outcome: 'done' } }]
}

export function createOpFixture(
  component: string,
  action: Op['action'],
  target: Op['target'],
  name: string,
): Op {
  return { component, stage: 'prepare', action, target, name, because: [] }
}

export function opStarts(seconds: number, host: string, op: Op): RecordedEvent {
  return [seconds, { type: 'op-started', op }, host, op.component]
}

export function opEnds(seconds: number, host: string, op: Op): RecordedEvent {
  return [seconds, { type: 'op-ended', op, result: { outcome: 'done' } }, host, op.component]
}

export function transfers(
  seconds: number,
  host: string,
  component: string,
  done: number,
  total: number,
): RecordedEvent {
  return [seconds, { type: 'progress', done, total, unit: 'MB' }, host, component]
}

export function waits(
  seconds: number,
  what: string,
  since: number,
  host?: string,
  component?: string,
): RecordedEvent {
  return [seconds, { type: 'waiting', for: what, since: timeAt(since) }, host, component]
}
