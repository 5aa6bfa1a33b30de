/** Milliseconds, as all lengths of time are. */
export const day = 86_400_000
export const year = 365 * day

/** Clocks of hosts differ a little; a certificate is good from shortly before it was made. */
const skew = 5 * 60_000

export interface Validity {
  readonly notBefore: Date
  readonly notAfter: Date
}

/** A certificate's times are whole seconds. */
export function validityFrom(now: Date, lifetime: number): Validity {
  return { notBefore: wholeSecond(now.getTime() - skew), notAfter: wholeSecond(now.getTime() + lifetime) }
}

/** The lifetime that a validity was made with, unless its authority has cut it short. */
export function lifetimeOf({ notBefore, notAfter }: Validity): number {
  return notAfter.getTime() - notBefore.getTime() - skew
}

/** What of a validity lies within another one. */
export function within(inner: Validity, outer: Validity): Validity {
  return {
    notBefore: new Date(Math.max(inner.notBefore.getTime(), outer.notBefore.getTime())),
    notAfter: new Date(Math.min(inner.notAfter.getTime(), outer.notAfter.getTime())),
  }
}

export function isValid({ notBefore, notAfter }: Validity, now: Date): boolean {
  return notBefore <= now && now < notAfter
}

/**
 * With a third of the lifetime left there is time for many tries before anything expires. The minutes before it was made
 * count, too: of a short life, a little more than a third is left.
 */
export function renewalDue({ notBefore, notAfter }: Validity, now: Date): boolean {
  const left = notAfter.getTime() - now.getTime()
  return left * 3 <= notAfter.getTime() - notBefore.getTime()
}

/** From when on it is due. */
export function renewalTime({ notBefore, notAfter }: Validity): Date {
  return new Date(notAfter.getTime() - (notAfter.getTime() - notBefore.getTime()) / 3)
}

function wholeSecond(time: number): Date {
  return new Date(Math.floor(time / 1000) * 1000)
}
