import type { NodePlan } from '../../contract/node-plan.ts'

/** Milliseconds between checks. */
export interface RenewalIntervals {
  /** Before the first check after the agent has started. */
  readonly firstMs: number
  /** Between two checks of the local certificates. Checks are rare enough to cost nothing. */
  readonly localMs: number
  /** Between two checks for signing requests, on hosts with CA keys. */
  readonly requestsMs: number
  /** While waiting for a signature or for the host to be free. */
  readonly retryMs: number
}

export const defaultRenewalIntervals: RenewalIntervals = {
  firstMs: 30_000,
  localMs: 600_000,
  requestsMs: 60_000,
  retryMs: 15_000,
}

/**
 * Check at least 12 times per certificate lifetime, so that several checks fit in the last third of a short
 * one.
 */
const checksPerLifetime = 12

export function computeCheckInterval({ components }: NodePlan, { localMs }: RenewalIntervals): number {
  const lifetimes = components.flatMap(({ certificates }) => certificates.map(({ lifetime }) => lifetime))
  return Math.min(localMs, ...lifetimes.map((lifetime) => lifetime / checksPerLifetime))
}
