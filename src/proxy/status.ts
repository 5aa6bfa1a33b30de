import type { ApiServer } from './api-server.ts'
import type { UpstreamHealth } from './upstreams.ts'

/** Status of the proxy for people and programs, served at /healthz. */
export interface ProxyStatus {
  readonly apiVersion: 'hyperkube.dev/v1'
  readonly kind: 'ApiserverProxyStatus'
  /** New connections are accepted. */
  readonly listening: boolean
  readonly connections: number
  readonly maxConnections: number
  /** Connections refused at the limit. */
  readonly refused: number
  /** Connections for which no server was found. */
  readonly unserved: number
  readonly servers: readonly ServerStatus[]
}

export interface ServerStatus {
  readonly server: string
  readonly local: boolean
  /** No longer a member: the server gets no more connections, even if it is healthy. */
  readonly retired: boolean
  readonly health: UpstreamHealth
  /** ISO 8601. */
  readonly since: string
  readonly reason?: string
  readonly connections: number
  readonly totals: ServerTotals
}

export interface ServerTotals {
  readonly connections: number
  /** Connections that the server did not accept. */
  readonly misses: number
  /** Connections that were moved away: gracefully, and at once. */
  readonly ended: number
  readonly cut: number
  /** Bytes. */
  readonly sent: number
  readonly received: number
}

/** `offset` converts the monotonic clock to the time of day. */
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
