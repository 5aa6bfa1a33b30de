import type { NodePlan } from '../../contract/node-plan.ts'

/** Times between checks, in milliseconds. */
export interface RenewalIntervals {
  /** Time from the start of the agent to the first check. */
  readonly firstMs: number
  /** Time between two checks of the certificates on this host. */
  readonly localMs: number
  /** Time between two checks for signing requests, on hosts with CA keys. */
  readonly requestsMs: number
  /** Time between two checks while waiting for a signature or for the end of another run. */
  readonly retryMs: number
}

export const defaultRenewalIntervals: RenewalIntervals = {
  firstMs: 30_000,
  localMs: 600_000,
  requestsMs: 60_000,
  retryMs: 15_000,
}

/**
 * Certificates are checked at least 12 times in their lifetime, so several checks fit in the last third of a
 * short lifetime.
 */
const checksPerLifetime = 12

export function computeCheckInterval({ components }: NodePlan, { localMs }: RenewalIntervals): number {
  const lifetimes = components.flatMap(({ certificates }) => certificates.map(({ lifetime }) => lifetime))
  return Math.min(localMs, ...lifetimes.map((lifetime) => lifetime / checksPerLifetime))
}
