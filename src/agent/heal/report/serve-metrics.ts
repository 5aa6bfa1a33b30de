import { readdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { ProcessStats } from './metrics.ts'

/** Loopback address of the metrics. The port follows the health port 6445 of the API proxy. */
export const metricsAddress = { host: '127.0.0.1', port: 6446 } as const

export interface ServeMetricsOptions {
  /** Returns metrics in the Prometheus text format. */
  readonly text: () => Promise<string>
  readonly log: (line: string) => void
  readonly signal: AbortSignal
  readonly address?: { readonly host: string; readonly port: number }
  /** Milliseconds until the next try if the port is in use. */
  readonly retryMs?: number
}

/**
 * Serves metrics at /metrics and liveness at /healthz. If another program uses the port, the server tries
 * again later instead of failing, because healing works without metrics. Returns the server, so tests can
 * read its port.
 */
export function serveMetrics(options: ServeMetricsOptions): Server {
  const { log, signal, address = metricsAddress, retryMs = 5000 } = options
  const server = createServer((request, response) => {
    void respond(options, request, response)
  })
  // Metrics clients send their request at once, so timeouts are short.
  server.headersTimeout = 5000
  server.requestTimeout = 10_000
  server.maxConnections = 20
  let timer: NodeJS.Timeout | undefined
  let lastMessage = ''
  server.on('error', ({ message }) => {
    if (message !== lastMessage) log(`cannot serve metrics at ${address.host}:${address.port}: ${message}`)
    lastMessage = message
    if (!signal.aborted && !server.listening) timer = setTimeout(() => server.listen(address), retryMs)
  })
  const end = (): void => {
    clearTimeout(timer)
    server.close()
    server.closeAllConnections()
  }
  if (signal.aborted) return server
  signal.addEventListener('abort', end, { once: true })
  server.listen(address)
  return server
}

async function respond(
  { text }: ServeMetricsOptions,
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (method !== 'GET' && method !== 'HEAD') response.writeHead(405).end()
    else if (url === '/healthz') response.end('ok\n')
    else if (url === '/metrics') {
      const body = await text()
      response.setHeader('content-type', 'text/plain; version=0.0.4').end(body)
    } else response.writeHead(404).end()
  } catch {
    if (!response.headersSent) response.writeHead(500)
    response.end()
  }
}

/** Reads the resource usage of this process. */
export async function readProcessStats(): Promise<ProcessStats> {
  const { user, system } = process.cpuUsage()
  const open = await readdir('/proc/self/fd').catch(() => undefined)
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    startedAt: Math.round(Date.now() / 1000 - process.uptime()),
    openFiles: open?.length,
  }
}
