/**
 * Returns how many milliseconds ago a time was. A future time means that the clock was set back. The result
 * is then Infinity, so healing does not wait until the clock reaches that time.
 */
export function elapsed(at: string | number, now: number): number {
  const then = typeof at === 'number' ? at : Date.parse(at)
  return then <= now ? now - then : Infinity
}
