import type { ProxyTiming } from './timing.ts'
import { isDead, type Upstream } from './upstreams.ts'

/** When each side of a connection last sent data; -Infinity for never. */
export interface ConnectionActivity {
  readonly clientSentAt: number
  readonly serverSentAt: number
  /** From 0 to 1, random for each connection: spreads the end of connections over time. */
  readonly jitter: number
}

export interface DrainInput {
  readonly upstream: Upstream
  /** Since when the server is no longer a member. */
  readonly retiredSince: number | undefined
  /** Alternative servers. Without a better one, every connection stays. */
  readonly others: readonly Upstream[]
}

/** `end` is for a connection without requests in flight: its client reconnects almost unnoticed. */
export type DrainDecision = 'stay' | 'end' | 'cut'

/**
 * Decides what happens to a connection. Clients keep connections forever and would stay at a useless server.
 */
export function decideDrain(
  activity: ConnectionActivity,
  input: DrainInput,
  now: number,
  timing: ProxyTiming,
): DrainDecision {
  const { upstream, retiredSince, others } = input
  if (!others.some((other) => isBetter(other, upstream))) return 'stay'
  const unhealthy = upstream.health === 'unhealthy'
  // A connection that still receives data is alive, whatever our probes say.
  const silent =
    activity.serverSentAt < (upstream.failingSince ?? now) ||
    now - activity.serverSentAt >= timing.urgentProbeTimeout
  if (isDead(upstream) && silent) return 'cut'
  const jitterMs = activity.jitter * timing.drainSpread
  // A draining server lets its clients finish and closes connections itself.
  const useless = unhealthy && !upstream.draining
  if (useless && now - upstream.since >= timing.unreadyGrace + jitterMs) return 'cut'
  const drainingSince = unhealthy ? upstream.since : retiredSince
  if (drainingSince === undefined || now - drainingSince < jitterMs) return 'stay'
  return isIdle(activity, now, timing.idleAfter) ? 'end' : 'stay'
}

/**
 * True if the other server responded after this one began to fail. Otherwise both may have the same problem,
 * and we notice it later.
 */
function isBetter(other: Upstream, { failingSince = -Infinity }: Upstream): boolean {
  return other.health === 'healthy' && (other.lastResponse ?? -Infinity) > failingSince
}

/**
 * True if the server sent the last data, long enough ago. This does not prove that no request is in flight,
 * because a server may send data before its response. A watch counts as idle, too; its client resumes it
 * elsewhere.
 */
export function isIdle(
  { clientSentAt, serverSentAt }: ConnectionActivity,
  now: number,
  idleMs: number,
): boolean {
  return serverSentAt >= clientSentAt && now - serverSentAt >= idleMs
}
