import type { NetworkProbeOutcome } from '../../contract/network-probe.ts'
import { hasCode } from '../../kit/errors.ts'

/** Maps a connection error to a probe outcome. */
export function toProbeOutcome(error: unknown): NetworkProbeOutcome {
  if (hasCode(error, 'ECONNREFUSED')) return 'refused'
  if (hasCode(error, 'ETIMEDOUT')) return 'timeout'
  // A firewall that rejects packets also has this outcome: EHOSTUNREACH from another host, EPERM from this
  // host.
  return 'unreachable'
}
