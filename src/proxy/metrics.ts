import type { ProxyStatus, ServerStatus } from './status.ts'

type Row = readonly [
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (server: ServerStatus) => number,
]

const prefix = 'hyperkube_apiserver_proxy'

const perServer: readonly Row[] = [
  ['server_well', 'gauge', 'Whether the server is well.', ({ health }) => (health === 'well' ? 1 : 0)],
  ['connections', 'gauge', 'Open connections.', ({ connections }) => connections],
  ['connections_total', 'counter', 'Connections there were.', ({ totals }) => totals.connections],
  ['misses_total', 'counter', 'Connections the server did not accept.', ({ totals }) => totals.misses],
  [
    'ended_total',
    'counter',
    'Connections sent elsewhere while nothing was said.',
    ({ totals }) => totals.ended,
  ],
  ['cut_total', 'counter', 'Connections sent elsewhere at once.', ({ totals }) => totals.cut],
  ['sent_bytes_total', 'counter', 'Bytes from clients to the server.', ({ totals }) => totals.sent],
  ['received_bytes_total', 'counter', 'Bytes from the server to clients.', ({ totals }) => totals.received],
]

/** The status as Prometheus reads it. */
export function metricsText(status: ProxyStatus, residentBytes: number): string {
  const rows = perServer.flatMap(([name, type, help, value]) => [
    ...head(name, type, help),
    ...status.servers.map(
      (server) => `${prefix}_${name}{server="${escape(server.server)}"} ${value(server)}`,
    ),
  ])
  const alone = [
    ...single('max_connections', 'gauge', 'Connections there may be.', status.maxConnections),
    ...single('refused_total', 'counter', 'Connections that were too many.', status.refused),
    ...single('unserved_total', 'counter', 'Connections for which no server was found.', status.unserved),
    ...single('resident_bytes', 'gauge', 'Memory of the proxy.', residentBytes),
  ]
  return `${[...rows, ...alone].join('\n')}\n`
}

function single(name: string, type: Row[1], help: string, value: number): string[] {
  return [...head(name, type, help), `${prefix}_${name} ${value}`]
}

function head(name: string, type: Row[1], help: string): string[] {
  return [`# HELP ${prefix}_${name} ${help}`, `# TYPE ${prefix}_${name} ${type}`]
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
