import { createServer, type Server } from 'node:http'
import { parseAddress } from './address.ts'
import { metricsText } from './metrics.ts'
import type { ProxyStatus } from './status.ts'

/** Says at /healthz and /metrics how the proxy is. */
export function healthServer(status: () => ProxyStatus): Server {
  return createServer((request, response) => {
    const now = status()
    if (request.url === '/healthz') {
      // Also when there are too many connections: a restart, which is what follows, would only cut them all.
      response.writeHead(now.listening ? 200 : 503, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify(now, undefined, 2)}\n`)
    } else if (request.url === '/metrics') {
      response.setHeader('content-type', 'text/plain; version=0.0.4')
      response.end(metricsText(now, process.memoryUsage.rss()))
    } else {
      response.writeHead(404).end()
    }
  })
}

/** Begins to listen, and tries again while somebody else has the port: who cannot tell how he is can still work. */
export function listenInTheEnd(
  server: Server,
  address: string,
  log: (line: string) => void,
  signal: AbortSignal,
): void {
  const again = 5000
  let timer: NodeJS.Timeout | undefined
  server.on('error', (error) => {
    log(`health is not told at ${address}: ${error.message}`)
    if (!signal.aborted) timer = setTimeout(() => server.listen(parseAddress(address)), again)
  })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    server.close()
    server.closeAllConnections()
  })
  server.listen(parseAddress(address))
}
