import type { Event } from '../../contract/event.ts'
import { logKey, type RunState } from './run-state.ts'

interface Word {
  readonly for: string
  readonly time: number
}

/** What lines were written last, so that none is written too often. */
export interface WordsSaid {
  /** When there was any line. */
  readonly last: number | undefined
  /** What was said to be waited for, by host and component, in the step that runs. */
  readonly waits: ReadonlyMap<string, Word>
}

export const nothingSaid: WordsSaid = { last: undefined, waits: new Map() }

/** A reason may change with every look: then it is told every few seconds. */
const betweenReasons = 5000
const reminder = 30_000

/** Once a line was written for an event. */
export function saidAfter(said: WordsSaid, { what, host, component, time }: Event): WordsSaid {
  const last = Date.parse(time)
  if (what.type === 'step-started' && host === undefined) return { last, waits: new Map() }
  if (what.type !== 'waiting') return { ...said, last }
  return { last, waits: new Map([...said.waits, [logKey(host, component), { for: what.for, time: last }]]) }
}

/**
 * Whether somebody wants to read once more of what is waited for. Hosts wait for many things, each for a moment: only
 * what lasts is told of them.
 */
export function worthTelling({ waits }: WordsSaid, { hosts }: RunState, event: Event): boolean {
  const { what, host, component } = event
  if (what.type !== 'waiting') return false
  const time = Date.parse(event.time)
  const since = host === undefined ? undefined : hosts.get(host)?.wait?.since
  if (since !== undefined && time - since < betweenReasons) return false
  const last = waits.get(logKey(host, component))
  return last === undefined || time - last.time >= (last.for === what.for ? reminder : betweenReasons)
}
