/** All durations in this file are in milliseconds. */
export const day = 86_400_000
export const year = 365 * day

/** Clocks of hosts differ a little, so a certificate is valid from shortly before it was made. */
const skew = 5 * 60_000

export interface Validity {
  readonly notBefore: Date
  readonly notAfter: Date
}

/** Truncates to whole seconds, as X.509 does. */
export function validityFrom(now: Date, lifetime: number): Validity {
  return { notBefore: wholeSecond(now.getTime() - skew), notAfter: wholeSecond(now.getTime() + lifetime) }
}

/** Returns the lifetime that a validity was made with, unless the validity of the CA shortened it. */
export function computeLifetime({ notBefore, notAfter }: Validity): number {
  return notAfter.getTime() - notBefore.getTime() - skew
}

/** Intersection of two validities. */
export function intersectValidity(inner: Validity, outer: Validity): Validity {
  return {
    notBefore: new Date(Math.max(inner.notBefore.getTime(), outer.notBefore.getTime())),
    notAfter: new Date(Math.min(inner.notAfter.getTime(), outer.notAfter.getTime())),
  }
}

export function isValid({ notBefore, notAfter }: Validity, now: Date): boolean {
  return notBefore <= now && now < notAfter
}

/**
 * Renewal is due when a third of the validity is left, which leaves time for many attempts. The validity
 * includes the clock skew, so slightly more than a third of a short lifetime is left.
 */
export function isRenewalDue({ notBefore, notAfter }: Validity, now: Date): boolean {
  const left = notAfter.getTime() - now.getTime()
  return left * 3 <= notAfter.getTime() - notBefore.getTime()
}

/** Time at which renewal becomes due. */
export function renewalTime({ notBefore, notAfter }: Validity): Date {
  return new Date(notAfter.getTime() - (notAfter.getTime() - notBefore.getTime()) / 3)
}

function wholeSecond(time: number): Date {
  return new Date(Math.floor(time / 1000) * 1000)
}
