import type { Op } from '../../contract/op.ts'
import type { What } from '../../lifecycle/event-stream.ts'
import { doingText, opText, waitText } from './op-text.ts'
import type { StepStatus, Wait } from './run-state.ts'

interface Amount {
  readonly done: number
  readonly total: number
  readonly unit: string
  readonly since: number
}

/** One host within the step that runs. */
export interface HostState {
  readonly status: Exclude<StepStatus, 'pending'>
  readonly begun: number
  readonly ended: number | undefined
  /** How many ops have ended: how far it is. */
  readonly ops: number
  readonly changes: number
  /** What was begun and has not ended, the newest last. */
  readonly open: readonly { readonly op: Op; readonly since: number }[]
  /** What ended last: between two ops one is shown what was done. */
  readonly last: { readonly op: Op; readonly time: number } | undefined
  /** What is on its way to it, by component. */
  readonly amounts: ReadonlyMap<string, Amount>
  readonly wait: (Wait & { readonly component: string | undefined }) | undefined
}

export function newHost(time: number): HostState {
  return {
    status: 'running',
    begun: time,
    ended: undefined,
    ops: 0,
    changes: 0,
    open: [],
    last: undefined,
    amounts: new Map(),
    wait: undefined,
  }
}

/** What one more event makes of a host. */
export function hostAfter(
  host: HostState,
  what: What,
  component: string | undefined,
  time: number,
): HostState {
  switch (what.type) {
    case 'op-started':
      // Downloads come before all ops, and their last word is not always told.
      return {
        ...host,
        open: [...host.open, { op: what.op, since: time }],
        amounts: new Map(),
        wait: undefined,
      }
    case 'op-ended':
      return {
        ...host,
        ops: host.ops + 1,
        changes: host.changes + (what.result.outcome === 'done' ? 1 : 0),
        open: host.open.filter(({ op }) => !isSame(op, what.op)),
        last: { op: what.op, time },
        wait: undefined,
      }
    case 'waiting':
      return { ...host, wait: { for: what.for, component, since: waitingSince(host, component, time) } }
    case 'progress': {
      const { done, total, unit } = what
      const key = component ?? ''
      const since = host.amounts.get(key)?.since ?? time
      const amount = { done, total, unit, since }
      return { ...host, wait: undefined, amounts: new Map([...host.amounts, [key, amount]]) }
    }
    case 'step-ended':
      return { ...host, status: statusOf(what.result.outcome), ended: time, open: [], wait: undefined }
    default:
      return host
  }
}

export function statusOf(outcome: 'done' | 'unchanged' | 'failed' | 'interrupted'): HostState['status'] {
  return outcome === 'unchanged' ? 'done' : outcome
}

/** What a host is at, and since when. */
export function activityOf({ open, wait, amounts, last, begun }: HostState): {
  readonly text: string
  readonly since: number
} {
  if (wait !== undefined) return { text: named(wait.component, waitText(wait.for)), since: wait.since }
  const newest = open.at(-1)
  if (newest !== undefined) {
    return { text: named(newest.op.component, doingText(newest.op)), since: newest.since }
  }
  const under = [...amounts].filter(([, { done, total }]) => done < total)
  const [first] = under
  if (first !== undefined) {
    return { text: under.map(amountText).join(', '), since: first[1].since }
  }
  if (last !== undefined) return { text: named(last.op.component, opText(last.op)), since: last.time }
  return { text: 'begins', since: begun }
}

/** Which part of what is on its way has come. */
export function arrived({ amounts }: HostState): number {
  const all = [...amounts.values()]
  const [done, total] = [
    all.reduce((sum, one) => sum + one.done, 0),
    all.reduce((sum, one) => sum + one.total, 0),
  ]
  return total > 0 ? done / total : 0
}

function amountText([component, { done, total, unit }]: readonly [string, Amount]): string {
  return `${component} ${done} of ${total} ${unit}`.trim()
}

function named(component: string | undefined, text: string): string {
  return component === undefined ? text : `${component}: ${text}`
}

/** By our own clock: that of the host, from which its `since` is, may be another. */
function waitingSince({ open, wait }: HostState, component: string | undefined, time: number): number {
  if (wait !== undefined && wait.component === component) return wait.since
  return open.find(({ op }) => op.component === component)?.since ?? time
}

function isSame(a: Op, b: Op): boolean {
  return a.component === b.component && a.target === b.target && a.name === b.name && a.action === b.action
}
