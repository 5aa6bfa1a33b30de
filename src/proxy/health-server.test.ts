import { once } from 'node:events'
import { expect, test } from 'vitest'
import {
  createMalformedRequests,
  malformedSeed,
  sendMalformedRequests,
} from '../kit/testing/malformed-requests.ts'
import { createHealthServer, formatProxyMetrics } from './health-server.ts'
import type { ProxyStatus } from './status.ts'

const status: ProxyStatus = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'ApiserverProxyStatus',
  listening: true,
  connections: 3,
  maxConnections: 10_000,
  refused: 1,
  unserved: 2,
  servers: [
    {
      server: '10.0.0.1:6443',
      local: true,
      retired: false,
      health: 'healthy',
      since: '2026-11-15T12:00:00.000Z',
      connections: 3,
      totals: { connections: 7, misses: 1, ended: 2, cut: 3, sent: 100, received: 2000 },
    },
  ],
}

test('metrics have the Prometheus format, each with its help text', () => {
  expect(formatProxyMetrics(status, 4096)).toMatchInlineSnapshot(`
    "# HELP hyperkube_apiserver_proxy_server_healthy 1 if the server is healthy.
    # TYPE hyperkube_apiserver_proxy_server_healthy gauge
    hyperkube_apiserver_proxy_server_healthy{server="10.0.0.1:6443"} 1
    # HELP hyperkube_apiserver_proxy_connections Open connections.
    # TYPE hyperkube_apiserver_proxy_connections gauge
    hyperkube_apiserver_proxy_connections{server="10.0.0.1:6443"} 3
    # HELP hyperkube_apiserver_proxy_connections_total Connections since the start.
    # TYPE hyperkube_apiserver_proxy_connections_total counter
    hyperkube_apiserver_proxy_connections_total{server="10.0.0.1:6443"} 7
    # HELP hyperkube_apiserver_proxy_misses_total Connection attempts that the server did not accept.
    # TYPE hyperkube_apiserver_proxy_misses_total counter
    hyperkube_apiserver_proxy_misses_total{server="10.0.0.1:6443"} 1
    # HELP hyperkube_apiserver_proxy_ended_total Idle connections that were moved to another server.
    # TYPE hyperkube_apiserver_proxy_ended_total counter
    hyperkube_apiserver_proxy_ended_total{server="10.0.0.1:6443"} 2
    # HELP hyperkube_apiserver_proxy_cut_total Connections closed at once.
    # TYPE hyperkube_apiserver_proxy_cut_total counter
    hyperkube_apiserver_proxy_cut_total{server="10.0.0.1:6443"} 3
    # HELP hyperkube_apiserver_proxy_sent_bytes_total Bytes from clients to the server.
    # TYPE hyperkube_apiserver_proxy_sent_bytes_total counter
    hyperkube_apiserver_proxy_sent_bytes_total{server="10.0.0.1:6443"} 100
    # HELP hyperkube_apiserver_proxy_received_bytes_total Bytes from the server to clients.
    # TYPE hyperkube_apiserver_proxy_received_bytes_total counter
    hyperkube_apiserver_proxy_received_bytes_total{server="10.0.0.1:6443"} 2000
    # HELP hyperkube_apiserver_proxy_max_connections Limit of connections.
    # TYPE hyperkube_apiserver_proxy_max_connections gauge
    hyperkube_apiserver_proxy_max_connections 10000
    # HELP hyperkube_apiserver_proxy_refused_total Connections refused at the limit.
    # TYPE hyperkube_apiserver_proxy_refused_total counter
    hyperkube_apiserver_proxy_refused_total 1
    # HELP hyperkube_apiserver_proxy_unserved_total Connections for which no server was found.
    # TYPE hyperkube_apiserver_proxy_unserved_total counter
    hyperkube_apiserver_proxy_unserved_total 2
    # HELP hyperkube_apiserver_proxy_resident_bytes Resident memory of the proxy.
    # TYPE hyperkube_apiserver_proxy_resident_bytes gauge
    hyperkube_apiserver_proxy_resident_bytes 4096
    "
  `)
})

test(`10,000 malformed requests leave the server healthy (seed ${malformedSeed})`, async () => {
  const server = createHealthServer(() => status).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  await sendMalformedRequests(port, createMalformedRequests(10_000))
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  server.closeAllConnections()
  server.close()
}, 60_000)
