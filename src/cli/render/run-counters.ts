import type { Event } from '../../contract/event.ts'

export interface RunCounters {
  readonly onEvent: (event: Event) => void
  /** Number of ops that changed something. */
  readonly ops: () => number
  /** Hosts that were changed. */
  readonly hosts: () => readonly string[]
}

/** Counts the changes of a run. */
export function createRunCounters(): RunCounters {
  const hosts = new Set<string>()
  let ops = 0
  return {
    onEvent({ body, host }) {
      if (body.type !== 'op-ended' || body.result.outcome !== 'done') return
      ops++
      if (host !== undefined) hosts.add(host)
    },
    ops: () => ops,
    hosts: () => [...hosts].toSorted(),
  }
}
