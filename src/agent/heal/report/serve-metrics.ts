import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

/** Beside the API's proxy, whose health is told at 6445; for programs of the host alone. */
export const metricsAddress = { host: '127.0.0.1', port: 6446 } as const

export interface MetricsScene {
  /** As Prometheus reads it. */
  readonly text: () => Promise<string>
  readonly say: (line: string) => void
  readonly signal: AbortSignal
  readonly address?: { readonly host: string; readonly port: number }
  /** In milliseconds, until the port is tried again. */
  readonly again?: number
}

/**
 * Says at /metrics how the host is, and at /healthz that there is somebody. Where another program has the port it tries
 * again: who cannot tell how the host is can still heal it. The server is there for tests, which ask where it listens.
 */
export function serveMetrics(scene: MetricsScene): Server {
  const { say, signal, address = metricsAddress, again = 5000 } = scene
  const server = createServer((request, response) => {
    void answer(scene, request, response)
  })
  // Whoever asks for figures says so at once.
  server.headersTimeout = 5000
  server.requestTimeout = 10_000
  server.maxConnections = 20
  let timer: NodeJS.Timeout | undefined
  let known = ''
  server.on('error', ({ message }) => {
    if (message !== known) say(`metrics are not told at ${address.host}:${address.port}: ${message}`)
    known = message
    if (!signal.aborted) timer = setTimeout(() => server.listen(address), again)
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

async function answer(
  { text }: MetricsScene,
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
