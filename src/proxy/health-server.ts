import { createServer, type Server } from 'node:http'
import { parseHostPort } from '../kit/host-port.ts'
import type { ProxyStatus, ServerStatus } from './status.ts'

/** Serves the status of the proxy at /healthz and /metrics. */
export function createHealthServer(status: () => ProxyStatus): Server {
  const server = createServer((request, response) => {
    const now = status()
    if (request.url === '/healthz') {
      // At the connection limit the proxy is still healthy: a restart would only cut all connections.
      response.writeHead(now.listening ? 200 : 503, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify(now, undefined, 2)}\n`)
    } else if (request.url === '/metrics') {
      response.setHeader('content-type', 'text/plain; version=0.0.4')
      response.end(formatProxyMetrics(now, process.memoryUsage.rss()))
    } else {
      response.writeHead(404).end()
    }
  })
  // Clients of health checks send their request at once, so timeouts are short.
  server.headersTimeout = 5000
  server.requestTimeout = 10_000
  server.maxConnections = 100
  return server
}

/**
 * Starts to listen and retries while the port is taken. An error is not fatal, because the proxy itself works
 * without its health server.
 */
export function listenWithRetry(
  server: Server,
  address: string,
  log: (line: string) => void,
  signal: AbortSignal,
): void {
  const retryMs = 5000
  let timer: NodeJS.Timeout | undefined
  server.on('error', (error) => {
    log(`cannot serve health at ${address}: ${error.message}`)
    if (!signal.aborted && !server.listening)
      timer = setTimeout(() => server.listen(parseHostPort(address)), retryMs)
  })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    server.close()
    server.closeAllConnections()
  })
  server.listen(parseHostPort(address))
}

type Row = readonly [
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (server: ServerStatus) => number,
]

const prefix = 'hyperkube_apiserver_proxy'

const perServer: readonly Row[] = [
  ['server_healthy', 'gauge', '1 if the server is healthy.', ({ health }) => (health === 'healthy' ? 1 : 0)],
  ['connections', 'gauge', 'Open connections.', ({ connections }) => connections],
  ['connections_total', 'counter', 'Connections since the start.', ({ totals }) => totals.connections],
  [
    'misses_total',
    'counter',
    'Connection attempts that the server did not accept.',
    ({ totals }) => totals.misses,
  ],
  [
    'ended_total',
    'counter',
    'Idle connections that were moved to another server.',
    ({ totals }) => totals.ended,
  ],
  ['cut_total', 'counter', 'Connections closed at once.', ({ totals }) => totals.cut],
  ['sent_bytes_total', 'counter', 'Bytes from clients to the server.', ({ totals }) => totals.sent],
  ['received_bytes_total', 'counter', 'Bytes from the server to clients.', ({ totals }) => totals.received],
]

/** Formats the status for Prometheus. */
export function formatProxyMetrics(status: ProxyStatus, residentBytes: number): string {
  const rows = perServer.flatMap(([name, type, help, value]) => [
    ...formatHeader(name, type, help),
    ...status.servers.map(
      (server) => `${prefix}_${name}{server="${escape(server.server)}"} ${value(server)}`,
    ),
  ])
  const globalRows = [
    ...formatSingle('max_connections', 'gauge', 'Limit of connections.', status.maxConnections),
    ...formatSingle('refused_total', 'counter', 'Connections refused at the limit.', status.refused),
    ...formatSingle(
      'unserved_total',
      'counter',
      'Connections for which no server was found.',
      status.unserved,
    ),
    ...formatSingle('resident_bytes', 'gauge', 'Resident memory of the proxy.', residentBytes),
  ]
  return `${[...rows, ...globalRows].join('\n')}\n`
}

function formatSingle(name: string, type: Row[1], help: string, value: number): string[] {
  return [...formatHeader(name, type, help), `${prefix}_${name} ${value}`]
}

function formatHeader(name: string, type: Row[1], help: string): string[] {
  return [`# HELP ${prefix}_${name} ${help}`, `# TYPE ${prefix}_${name} ${type}`]
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
