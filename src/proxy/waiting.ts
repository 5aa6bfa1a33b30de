import type { Talk } from './drain-decision.ts'

/**
 * Since when somebody waits for a server of which nobody has heard anything: a client that has spoken last, or we
 * ourselves, who wanted to connect. A look that found it ready has answered all who spoke before it: many a last word
 * of a client needs no answer, and nobody shall ask for ever because of it.
 */
export function waitingSince(
  talks: Iterable<Pick<Talk, 'spokenAt' | 'heardAt'>>,
  doubtedAt: number,
  answeredAt: number,
): number | undefined {
  let firstWord = doubtedAt > answeredAt ? doubtedAt : Infinity
  let lastHeard = -Infinity
  for (const { spokenAt, heardAt } of talks) {
    lastHeard = Math.max(lastHeard, heardAt)
    if (spokenAt > heardAt && spokenAt > answeredAt) firstWord = Math.min(firstWord, spokenAt)
  }
  return firstWord === Infinity ? undefined : Math.max(firstWord, lastHeard)
}
