import { createServer, type Server } from 'node:http'
import { parseAddress } from './address.ts'
import type { ProxyStatus, ServerStatus } from './status.ts'

/** Serves the status of the proxy at /healthz and /metrics. */
export function createHealthServer(status: () => ProxyStatus): Server {
  return createServer((request, response) => {
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
}

/** Starts to listen and retries while the port is taken. The proxy itself works without its health server. */
export function listenWithRetry(
  server: Server,
  address: string,
  log: (line: string) => void,
  signal: AbortSignal,
): void {
  const retryMs = 5000
  let timer: NodeJS.Timeout | undefined
  server.on('error', (error) => {
    log(`health is not served at ${address}: ${error.message}`)
    if (!signal.aborted) timer = setTimeout(() => server.listen(parseAddress(address)), retryMs)
  })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    server.close()
    server.closeAllConnections()
  })
  server.listen(parseAddress(address))
}

type Row = readonly [
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (server: ServerStatus) => number,
]

const prefix = 'hyperkube_apiserver_proxy'

const perServer: readonly Row[] = [
  [
    'server_healthy',
    'gauge',
    'Whether the server is healthy.',
    ({ health }) => (health === 'healthy' ? 1 : 0),
  ],
  ['connections', 'gauge', 'Open connections.', ({ connections }) => connections],
  ['connections_total', 'counter', 'Connections there were.', ({ totals }) => totals.connections],
  ['misses_total', 'counter', 'Connections the server did not accept.', ({ totals }) => totals.misses],
  [
    'ended_total',
    'counter',
    'Idle connections that were moved to another server.',
    ({ totals }) => totals.ended,
  ],
  ['cut_total', 'counter', 'Connections that were cut at once.', ({ totals }) => totals.cut],
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
    ...formatSingle('max_connections', 'gauge', 'Connections there may be.', status.maxConnections),
    ...formatSingle('refused_total', 'counter', 'Connections that were too many.', status.refused),
    ...formatSingle(
      'unserved_total',
      'counter',
      'Connections for which no server was found.',
      status.unserved,
    ),
    ...formatSingle('resident_bytes', 'gauge', 'Memory of the proxy.', residentBytes),
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
