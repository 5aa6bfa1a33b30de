import type { Event } from '../../../contract/event.ts'
import type { Op } from '../../../contract/op.ts'
import type { Stage } from '../../../contract/stage.ts'
import type { About, What } from '../../../lifecycle/event-stream.ts'

/** When every recorded run begins. */
export const beginning = Date.parse('2026-11-15T05:00:00Z')

/** Seconds since the beginning, what happened, and to whom. */
export type Told = readonly [
  seconds: number,
  what: What,
  host?: string | undefined,
  component?: string | undefined,
]

/** For tests: what was told, as the events of a run. */
export function recorded(told: readonly Told[]): Event[] {
  return told.map(([seconds, what, host, component], index) => ({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Event',
    run: '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d',
    sequence: index + 1,
    time: at(seconds),
    ...about(host, component),
    what,
  }))
}

export function at(seconds: number): string {
  return new Date(beginning + seconds * 1000).toISOString()
}

function about(host: string | undefined, component: string | undefined): About {
  return { ...(host === undefined ? {} : { host }), ...(component === undefined ? {} : { component }) }
}

export const start: Told = [0, { type: 'run-started', command: 'up' }]

/** Something that takes no host further, from beginning to end. */
export function aside(
  from: number,
  to: number,
  step: string,
  title: string,
  hosts: readonly string[],
): Told[] {
  return [
    [from, { type: 'steps-planned', steps: [{ step, title, hosts: [...hosts] }] }],
    [from, { type: 'step-started', step }],
    [to, { type: 'step-ended', step, result: { outcome: 'done' } }],
  ]
}

export interface Planned {
  readonly step: string
  readonly title: string
  readonly stage: Stage
  readonly hosts: readonly string[]
}

export function planned(seconds: number, steps: readonly Planned[]): Told {
  return [seconds, { type: 'steps-planned', steps: steps.map((one) => ({ ...one, hosts: [...one.hosts] })) }]
}

export function stepBegins(seconds: number, { step, stage, hosts }: Planned): Told[] {
  return [
    [seconds, { type: 'step-started', step, stage }],
    ...hosts.map((host): Told => [seconds, { type: 'step-started', step, stage }, host]),
  ]
}

export function hostEnds(seconds: number, { step }: Planned, host: string): Told {
  return [seconds, { type: 'step-ended', step, result: { outcome: 'done' } }, host]
}

export function stepEnds(seconds: number, { step }: Planned): Told {
  return [seconds, { type: 'step-ended', step, result: { outcome: 'done' } }]
}

export function opOf(component: string, action: Op['action'], target: Op['target'], name: string): Op {
  return { component, stage: 'prepare', action, target, name, because: [] }
}

export function opBegins(seconds: number, host: string, op: Op): Told {
  return [seconds, { type: 'op-started', op }, host, op.component]
}

export function opEnds(seconds: number, host: string, op: Op): Told {
  return [seconds, { type: 'op-ended', op, result: { outcome: 'done' } }, host, op.component]
}

export function loads(seconds: number, host: string, component: string, done: number, total: number): Told {
  return [seconds, { type: 'progress', done, total, unit: 'MB' }, host, component]
}

export function waits(seconds: number, what: string, since: number, host?: string, component?: string): Told {
  return [seconds, { type: 'waiting', for: what, since: at(since) }, host, component]
}
