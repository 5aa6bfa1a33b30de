/**
 * Returns how long ago a time was, in milliseconds. Future times (the clock was set back) count as infinitely
 * long ago, so that healing does not wait until the clock catches up.
 */
export function elapsed(at: string | number, now: number): number {
  const then = typeof at === 'number' ? at : Date.parse(at)
  return then <= now ? now - then : Infinity
}
