import type { ClientConnection } from './client-connection.ts'
import type { ConnectionActivity } from './drain-decision.ts'
import type { ProbeState } from './probe-schedule.ts'
import { createUpstream, type Upstream } from './upstreams.ts'

/** One API server: its health, its probes and its connections. */
export class ApiServer implements ProbeState {
  readonly name: string
  upstream: Upstream
  retiredSince: number | undefined = undefined
  lastProbeAt: number | undefined = undefined
  probesInFlight = 0
  responseTime = 0
  /**
   * Start times of the last successful probe and of the last slow connection attempt. -Infinity means that
   * none happened yet.
   */
  lastReadyProbeAt = -Infinity
  lastSlowDialAt = -Infinity
  /**
   * `unclearCount` counts inconclusive probes in a row. `authenticated` is true if probes send the proxy's
   * client certificate.
   */
  unclearCount = 0
  authenticated = false
  readonly connections = new Set<ClientConnection>()
  readonly totals = { connections: 0, misses: 0, ended: 0, cut: 0, sent: 0, received: 0 }

  constructor(name: string, now: number) {
    this.name = name
    this.upstream = createUpstream(now)
  }

  get waitingSince(): number | undefined {
    return findWaitingSince(this.connections, this.lastSlowDialAt, this.lastReadyProbeAt)
  }
}

/**
 * Returns since when a client, or a connection attempt of the proxy, waits for a server that has sent
 * nothing. A successful probe clears all earlier waits: some client messages need no response and must not
 * cause urgent probes forever.
 */
export function findWaitingSince(
  connections: Iterable<Pick<ConnectionActivity, 'clientSentAt' | 'serverSentAt'>>,
  lastSlowDialAt: number,
  lastReadyProbeAt: number,
): number | undefined {
  let firstWait = lastSlowDialAt > lastReadyProbeAt ? lastSlowDialAt : Infinity
  let lastReceived = -Infinity
  for (const { clientSentAt, serverSentAt } of connections) {
    lastReceived = Math.max(lastReceived, serverSentAt)
    if (clientSentAt > serverSentAt && clientSentAt > lastReadyProbeAt)
      firstWait = Math.min(firstWait, clientSentAt)
  }
  return firstWait === Infinity ? undefined : Math.max(firstWait, lastReceived)
}
