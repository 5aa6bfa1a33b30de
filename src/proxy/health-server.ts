import { createServer, type Server } from 'node:http'
import { parseAddress } from './address.ts'
import { formatProxyMetrics } from './metrics.ts'
import type { ProxyStatus } from './status.ts'

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
