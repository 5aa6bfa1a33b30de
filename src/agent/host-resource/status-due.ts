import { isDeepStrictEqual } from 'node:util'
import type { HostStatus } from '../../contract/host-resource.ts'

/** In milliseconds. Whoever listens takes an agent for silent after more than twice of it. */
export const heartbeatEvery = 2 * 60_000

/** Whether what is told has to be told anew: something else is the case, or it is time for a sign of life. */
export function isDue(told: HostStatus, now: HostStatus, time: number): boolean {
  if (!isDeepStrictEqual(substance(told), substance(now))) return true
  const age = time - Date.parse(told.heartbeat ?? '')
  // Also where the clock was set back since.
  return !(age >= 0 && age < heartbeatEvery)
}

/** All that we say of ourselves, but for the time. What is not said at all and what is undefined are the same. */
function substance({ heartbeat: _heartbeat, conditions: _conditions, ...rest }: HostStatus): unknown {
  return JSON.parse(JSON.stringify(rest))
}
