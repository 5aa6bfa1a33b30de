import type { Event } from '../../contract/event.ts'

export interface Tally {
  readonly heard: (event: Event) => void
  /** How many were done; those that were so already do not count. */
  readonly ops: () => number
  /** Those on which anything was done. */
  readonly hosts: () => readonly string[]
}

/** Counts what a run does. */
export function tallyOf(): Tally {
  const hosts = new Set<string>()
  let ops = 0
  return {
    heard({ what, host }) {
      if (what.type !== 'op-ended' || what.result.outcome !== 'done') return
      ops++
      if (host !== undefined) hosts.add(host)
    },
    ops: () => ops,
    hosts: () => [...hosts].toSorted(),
  }
}
