import type { ProbeOutcome } from '../../contract/network-probe.ts'
import { hasCode } from '../../kit/errors.ts'

/** What it means that there is no way to a port. */
export function outcomeOf(error: unknown): ProbeOutcome {
  if (hasCode(error, 'ECONNREFUSED')) return 'refused'
  if (hasCode(error, 'ETIMEDOUT')) return 'timeout'
  // A firewall that rejects says so as well: EHOSTUNREACH from another host, EPERM from the own one.
  return 'unreachable'
}
