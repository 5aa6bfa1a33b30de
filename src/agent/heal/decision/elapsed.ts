/**
 * How long ago something was, in milliseconds. What lies ahead was long ago: the clock was set back since, and nobody is to
 * wait until it has come so far again.
 */
export function elapsed(at: string | number, now: number): number {
  const then = typeof at === 'number' ? at : Date.parse(at)
  return then <= now ? now - then : Infinity
}
