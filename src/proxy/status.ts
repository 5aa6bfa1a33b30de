import type { ApiServer } from './upstream-pool.ts'
import type { UpstreamHealth } from './upstreams.ts'

/** Status of the proxy for people and programs, served at /healthz. */
export interface ProxyStatus {
  readonly apiVersion: 'hyperkube.dev/v1'
  readonly kind: 'ApiserverProxyStatus'
  /** True if new connections are accepted. */
  readonly listening: boolean
  readonly connections: number
  readonly maxConnections: number
  /** Number of connections refused because of the connection limit. */
  readonly refused: number
  /** Number of connections for which no server was found. */
  readonly unserved: number
  readonly servers: readonly ServerStatus[]
}

export interface ServerStatus {
  readonly server: string
  readonly local: boolean
  /**
   * True if the server is neither configured nor discovered any more. It then gets no new connections, even
   * if it is healthy.
   */
  readonly retired: boolean
  readonly health: UpstreamHealth
  /** Time of the last health change (ISO 8601). */
  readonly since: string
  readonly reason?: string
  readonly connections: number
  readonly totals: ServerTotals
}

export interface ServerTotals {
  readonly connections: number
  /** Number of connections that the server did not accept. */
  readonly misses: number
  /**
   * Numbers of connections that the proxy closed to make clients connect to another server: `ended`
   * gracefully, `cut` immediately.
   */
  readonly ended: number
  readonly cut: number
  /** `sent` counts the bytes to the server, `received` the bytes from the server. */
  readonly sent: number
  readonly received: number
}

/** Builds the status of a server. `offset` converts monotonic times to wall time. */
export function buildServerStatus(server: ApiServer, local: boolean, offset: number): ServerStatus {
  const { name, upstream, retiredSince, connections, totals } = server
  const open = [...connections]
  return {
    server: name,
    local,
    retired: retiredSince !== undefined,
    health: upstream.health,
    since: new Date(upstream.since + offset).toISOString(),
    ...(upstream.reason === undefined ? {} : { reason: upstream.reason }),
    connections: connections.size,
    totals: {
      ...totals,
      sent: open.reduce((sum, { sent }) => sum + sent, totals.sent),
      received: open.reduce((sum, { received }) => sum + received, totals.received),
    },
  }
}
