import type { Op } from '../../contract/op.ts'
import type { EventBody } from '../../lifecycle/agents/event-stream.ts'
import { formatRunningOp, formatEndedOp, formatWait } from './op-text.ts'
import type { StepStatus, WaitState } from './step-state.ts'

interface TransferProgress {
  readonly done: number
  readonly total: number
  readonly unit: string
  readonly since: number
}

/** State of one host in the running step. */
export interface HostState {
  readonly status: Exclude<StepStatus, 'pending'>
  readonly startedAt: number
  readonly endedAt: number | undefined
  /** Number of ended ops, as a measure of progress. */
  readonly endedOps: number
  readonly changes: number
  /** Ops that have started and not ended, the newest last. */
  readonly openOps: readonly { readonly op: Op; readonly since: number }[]
  /** The op that ended last; it is shown between two ops. */
  readonly lastOp: { readonly op: Op; readonly time: number } | undefined
  /** Running uploads and downloads, by component. */
  readonly transfers: ReadonlyMap<string, TransferProgress>
  readonly wait: (WaitState & { readonly component: string | undefined }) | undefined
}

export function createHostState(time: number): HostState {
  return {
    status: 'running',
    startedAt: time,
    endedAt: undefined,
    endedOps: 0,
    changes: 0,
    openOps: [],
    lastOp: undefined,
    transfers: new Map(),
    wait: undefined,
  }
}

/** Applies one event to the state of a host. */
export function applyHostEvent(
  host: HostState,
  body: EventBody,
  component: string | undefined,
  time: number,
): HostState {
  switch (body.type) {
    case 'op-started':
      // Removes all transfers. Downloads have ended before the first op, but their last progress event may be
      // missing.
      return {
        ...host,
        openOps: [...host.openOps, { op: body.op, since: time }],
        transfers: new Map(),
        wait: undefined,
      }
    case 'op-ended':
      return {
        ...host,
        endedOps: host.endedOps + 1,
        changes: host.changes + (body.result.outcome === 'done' ? 1 : 0),
        openOps: host.openOps.filter(({ op }) => !isSameOp(op, body.op)),
        lastOp: { op: body.op, time },
        wait: undefined,
      }
    case 'waiting':
      return { ...host, wait: { for: body.for, component, since: findWaitStart(host, component, time) } }
    case 'progress': {
      const { done, total, unit } = body
      const key = component ?? ''
      const since = host.transfers.get(key)?.since ?? time
      const transfer = { done, total, unit, since }
      return { ...host, wait: undefined, transfers: new Map([...host.transfers, [key, transfer]]) }
    }
    case 'step-ended':
      return {
        ...host,
        status: toStepStatus(body.result.outcome),
        endedAt: time,
        openOps: [],
        wait: undefined,
      }
    default:
      return host
  }
}

export function toStepStatus(outcome: 'done' | 'unchanged' | 'failed' | 'interrupted'): HostState['status'] {
  return outcome === 'unchanged' ? 'done' : outcome
}

/** Describes the current activity of a host and its start time. */
export function describeActivity({ openOps, wait, transfers, lastOp, startedAt }: HostState): {
  readonly text: string
  readonly since: number
} {
  if (wait !== undefined)
    return { text: prefixComponent(wait.component, formatWait(wait.for)), since: wait.since }
  const newest = openOps.at(-1)
  if (newest !== undefined) {
    return { text: prefixComponent(newest.op.component, formatRunningOp(newest.op)), since: newest.since }
  }
  const unfinished = [...transfers].filter(([, { done, total }]) => done < total)
  const [first] = unfinished
  if (first !== undefined) {
    return { text: unfinished.map(formatTransfer).join(', '), since: first[1].since }
  }
  if (lastOp !== undefined)
    return { text: prefixComponent(lastOp.op.component, formatEndedOp(lastOp.op)), since: lastOp.time }
  return { text: 'starting', since: startedAt }
}

/** Returns the completed share of all transfers of a host. */
export function computeTransferShare({ transfers }: HostState): number {
  const all = [...transfers.values()]
  const [done, total] = [
    all.reduce((sum, transfer) => sum + transfer.done, 0),
    all.reduce((sum, transfer) => sum + transfer.total, 0),
  ]
  return total > 0 ? done / total : 0
}

function formatTransfer([component, { done, total, unit }]: readonly [string, TransferProgress]): string {
  return `${component} ${done} of ${total} ${unit}`.trim()
}

function prefixComponent(component: string | undefined, text: string): string {
  return component === undefined ? text : `${component}: ${text}`
}

/**
 * Finds the start of a wait by the operator's clock. The host's clock, which sets `since` in the event, may
 * differ.
 */
function findWaitStart({ openOps, wait }: HostState, component: string | undefined, time: number): number {
  if (wait !== undefined && wait.component === component) return wait.since
  return openOps.find(({ op }) => op.component === component)?.since ?? time
}

function isSameOp(a: Op, b: Op): boolean {
  return a.component === b.component && a.target === b.target && a.name === b.name && a.action === b.action
}
