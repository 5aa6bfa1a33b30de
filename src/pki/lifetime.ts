/** All durations in this file are in milliseconds. */
export const day = 86_400_000
export const year = 365 * day

/**
 * The validity of a certificate begins this long before it is signed, because the clocks of hosts differ a
 * little.
 */
const skew = 5 * 60_000

export interface Validity {
  readonly notBefore: Date
  readonly notAfter: Date
}

/** Returns the validity of a certificate that is signed now. Times are truncated to seconds, as in X.509. */
export function validityFrom(now: Date, lifetime: number): Validity {
  return { notBefore: wholeSecond(now.getTime() - skew), notAfter: wholeSecond(now.getTime() + lifetime) }
}

/**
 * Returns the lifetime from which a validity was computed. The result is shorter if the validity was limited
 * by the validity of the CA.
 */
export function computeLifetime({ notBefore, notAfter }: Validity): number {
  return notAfter.getTime() - notBefore.getTime() - skew
}

/** Returns the time range that lies in both validities. */
export function intersectValidity(inner: Validity, outer: Validity): Validity {
  return {
    notBefore: new Date(Math.max(inner.notBefore.getTime(), outer.notBefore.getTime())),
    notAfter: new Date(Math.min(inner.notAfter.getTime(), outer.notAfter.getTime())),
  }
}

export function isValid({ notBefore, notAfter }: Validity, now: Date): boolean {
  return notBefore <= now && now < notAfter
}

/** True if a third of the validity or less is left. That leaves time for many renewal attempts. */
export function isRenewalDue({ notBefore, notAfter }: Validity, now: Date): boolean {
  const left = notAfter.getTime() - now.getTime()
  return left * 3 <= notAfter.getTime() - notBefore.getTime()
}

/** Returns the time at which renewal becomes due. */
export function renewalTime({ notBefore, notAfter }: Validity): Date {
  return new Date(notAfter.getTime() - (notAfter.getTime() - notBefore.getTime()) / 3)
}

function wholeSecond(time: number): Date {
  return new Date(Math.floor(time / 1000) * 1000)
}
