import { isDeepStrictEqual } from 'node:util'
import type { HostStatus } from '../../contract/host-resource.ts'

/** Milliseconds between heartbeats. Controllers treat an agent as silent after more than twice this time. */
export const heartbeatIntervalMs = 2 * 60_000

/** True if the status must be written again: its content has changed, or the heartbeat is due. */
export function isStatusDue(previous: HostStatus, current: HostStatus, nowMs: number): boolean {
  if (!isDeepStrictEqual(withoutTimes(previous), withoutTimes(current))) return true
  const age = nowMs - Date.parse(previous.heartbeat ?? '')
  // A negative age means that the clock was set back.
  return !(age >= 0 && age < heartbeatIntervalMs)
}

/** Returns the status without the heartbeat and the conditions. A missing field equals an undefined one. */
function withoutTimes({ heartbeat: _heartbeat, conditions: _conditions, ...rest }: HostStatus): unknown {
  return JSON.parse(JSON.stringify(rest))
}
