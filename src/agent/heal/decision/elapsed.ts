/**
 * Returns how many milliseconds ago a time was. Returns Infinity for a future time: the clock was set back,
 * and healing does not wait until it has caught up.
 */
export function elapsed(at: string | number, now: number): number {
  const then = typeof at === 'number' ? at : Date.parse(at)
  return then <= now ? now - then : Infinity
}
