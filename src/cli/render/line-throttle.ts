import type { Event } from '../../contract/event.ts'
import { buildLogKey, type RunState } from './run-state.ts'

interface ReportedWait {
  readonly for: string
  readonly time: number
}

/** Records when lines were printed last, to limit repetition. */
export interface LineThrottle {
  /** Time of the last line. */
  readonly last: number | undefined
  /** Last printed waits of the running step, by host and component. */
  readonly waits: ReadonlyMap<string, ReportedWait>
}

export const initialThrottle: LineThrottle = { last: undefined, waits: new Map() }

/** Minimum time between two lines about the same wait if its condition has changed. */
const changedIntervalMs = 5000
const repeatIntervalMs = 30_000

/** Records that a line was printed for an event. */
export function recordLine(throttle: LineThrottle, { body, host, component, time }: Event): LineThrottle {
  const last = Date.parse(time)
  if (body.type === 'step-started' && host === undefined) return { last, waits: new Map() }
  if (body.type !== 'waiting') return { ...throttle, last }
  return {
    last,
    waits: new Map([...throttle.waits, [buildLogKey(host, component), { for: body.for, time: last }]]),
  }
}

/**
 * True if a wait must be printed now. Waits of a host are printed only if they are long, because short waits
 * are frequent.
 */
export function shouldReportWait({ waits }: LineThrottle, { hosts }: RunState, event: Event): boolean {
  const { body, host, component } = event
  if (body.type !== 'waiting') return false
  const time = Date.parse(event.time)
  const since = host === undefined ? undefined : hosts.get(host)?.wait?.since
  if (since !== undefined && time - since < changedIntervalMs) return false
  const last = waits.get(buildLogKey(host, component))
  return (
    last === undefined || time - last.time >= (last.for === body.for ? repeatIntervalMs : changedIntervalMs)
  )
}
