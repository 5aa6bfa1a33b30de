import type { Server } from './api-server.ts'
import type { Health } from './upstreams.ts'

/** How the proxy is, for people and for programs that ask at /healthz. */
export interface ProxyStatus {
  readonly apiVersion: 'hyperkube.dev/v1'
  readonly kind: 'ApiserverProxyStatus'
  /** New connections are taken. */
  readonly listening: boolean
  readonly connections: number
  readonly maxConnections: number
  /** Connections that came when there were already that many. */
  readonly refused: number
  /** Connections for which no server was found. */
  readonly unserved: number
  readonly servers: readonly ServerStatus[]
}

export interface ServerStatus {
  readonly server: string
  readonly local: boolean
  /** It gets no more connections, however well it is: nobody names it any longer. */
  readonly retired: boolean
  readonly health: Health
  /** ISO 8601. */
  readonly since: string
  readonly reason?: string
  readonly connections: number
  readonly totals: ServerTotals
}

export interface ServerTotals {
  readonly connections: number
  /** Connections that it did not accept. */
  readonly misses: number
  /** Connections that were sent elsewhere, gently and at once. */
  readonly ended: number
  readonly cut: number
  /** Bytes. */
  readonly sent: number
  readonly received: number
}

/** `offset` is what has to be added to our clock to get the time of day. */
export function serverStatus(server: Server, local: boolean, offset: number): ServerStatus {
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
