import type { ProxyTiming } from './timing.ts'
import { isDead, type Upstream } from './upstreams.ts'

/** Times at which each side of a connection last sent data; -Infinity if it has sent nothing. */
export interface ConnectionActivity {
  readonly clientSentAt: number
  readonly serverSentAt: number
  /** Random number from 0 to 1. It spreads the draining of connections over time. */
  readonly jitter: number
}

export interface DrainInput {
  readonly upstream: Upstream
  /**
   * Time since which the server is no longer a member, that is, neither configured nor discovered. Undefined
   * for members.
   */
  readonly retiredSince: number | undefined
  /**
   * All other members. Every connection stays unless at least one of these servers is known to be healthy.
   */
  readonly others: readonly Upstream[]
}

/**
 * `end` closes a connection without requests in flight, so its client hardly notices the reconnect. `cut`
 * closes a connection immediately, even with requests in flight.
 */
export type DrainDecision = 'stay' | 'end' | 'cut'

/**
 * Decides whether a connection stays at its server. Clients keep connections forever and would never leave an
 * unusable server themselves.
 */
export function decideDrain(
  activity: ConnectionActivity,
  input: DrainInput,
  now: number,
  timing: ProxyTiming,
): DrainDecision {
  const { upstream, retiredSince, others } = input
  const better = others.filter((other) => isBetter(other, upstream))
  if (better.length === 0) return 'stay'
  const unhealthy = upstream.health === 'unhealthy'
  // A connection that still receives data is alive, even if the proxy's probes fail.
  const silent =
    activity.serverSentAt < (upstream.failingSince ?? now) ||
    now - activity.serverSentAt >= timing.urgentProbeTimeout
  if (isDead(upstream) && silent && isSilentForLong(upstream, better, now)) return 'cut'
  const jitterMs = activity.jitter * timing.drainSpread
  // A draining server lets its clients finish and closes the connections itself, so the proxy does not cut
  // them.
  const useless = unhealthy && !upstream.draining
  if (useless && now - upstream.since >= timing.unreadyGrace + jitterMs) return 'cut'
  const drainingSince = unhealthy ? upstream.since : retiredSince
  if (drainingSince === undefined || now - drainingSince < jitterMs) return 'stay'
  return isIdle(activity, now, timing.idleAfter) ? 'end' : 'stay'
}

/**
 * True if the other server is healthy and has responded since the current server began to fail. An older
 * response proves nothing: both servers may have the same problem, which the proxy has not detected yet.
 */
function isBetter(other: Upstream, { failingSince = -Infinity }: Upstream): boolean {
  return other.health === 'healthy' && (other.lastResponse ?? -Infinity) > failingSince
}

/** A server is silent for long after this many response times of another server. */
const silentResponseTimes = 4

/**
 * True if the server has been silent for much longer than another server needs to respond. If all servers
 * respond slowly, they are overloaded. The TLS handshakes of cut clients would add to the overload.
 */
function isSilentForLong({ failingSince }: Upstream, better: readonly Upstream[], now: number): boolean {
  const silentMs = now - (failingSince ?? now)
  return better.some(({ responseTime }) => silentMs >= silentResponseTimes * responseTime)
}

/**
 * True if the server sent the last data and `idleMs` have passed since. A request may still be in flight,
 * because a server can send other data before its response. A watch also counts as idle; its client resumes
 * it at another server.
 */
export function isIdle(
  { clientSentAt, serverSentAt }: ConnectionActivity,
  now: number,
  idleMs: number,
): boolean {
  return serverSentAt >= clientSentAt && now - serverSentAt >= idleMs
}
