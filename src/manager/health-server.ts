import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { HyperkubeError } from '../kit/errors.ts'
import type { ListenAddress } from './config.ts'

export interface HealthServerOptions {
  /** Returns the checks of livez, readyz or healthz; undefined for other paths. */
  readonly checks: (path: string) => HealthChecks | undefined
  /** Returns the metrics in Prometheus format. */
  readonly metrics: () => string
}

export interface HealthServer extends AsyncDisposable {
  readonly port: number
}

/** Serves `/livez`, `/readyz`, `/healthz` and `/metrics`. Each single check is also served as a subpath. */
export async function startHealthServer(
  { host, port }: ListenAddress,
  options: HealthServerOptions,
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    // The target is not parsed as a URL, because the parser throws for targets such as `//`.
    const [path = '', query] = (request.url ?? '/').slice(1).split('?', 2)
    try {
      respond(response, path, new URLSearchParams(query).has('verbose'), options)
    } catch {
      if (!response.headersSent) response.writeHead(500)
      response.end()
    }
  })
  // Clients of health checks send their request at once, so timeouts are short.
  server.headersTimeout = 5000
  server.requestTimeout = 10_000
  server.maxConnections = 100
  server.listen(port, host)
  await once(server, 'listening').catch((cause: unknown) => {
    throw new HyperkubeError('MANAGER_NOT_LISTENING', `cannot listen at ${host}:${port}`, { cause })
  })
  // Without this listener, a connection that cannot be accepted would end the process.
  server.on('error', () => undefined)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function respond(
  response: ServerResponse,
  path: string,
  verbose: boolean,
  { checks, metrics }: HealthServerOptions,
): void {
  const send = (status: number, text: string): void =>
    void response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
  if (path === 'metrics') {
    response.setHeader('content-type', 'text/plain; version=0.0.4')
    response.end(metrics())
    return
  }
  const [kind = '', name, ...rest] = path.split('/')
  const all = checks(kind)
  const check = name === undefined ? undefined : all?.get(name)
  if (all === undefined || rest.length > 0 || (name !== undefined && check === undefined))
    return send(404, '')
  const selected = name === undefined || check === undefined ? all : new Map([[name, check]])
  const { healthy, text } = runHealthChecks(path, selected, verbose)
  send(healthy ? 200 : 500, text)
}

/** Returns why a check fails, or undefined if it passes. */
export type HealthCheck = () => string | undefined

export type HealthChecks = ReadonlyMap<string, HealthCheck>

interface HealthCheckReport {
  readonly healthy: boolean
  readonly text: string
}

/**
 * Runs the checks and formats the result as Kubernetes components do. Checks are listed one per line if one
 * fails or `verbose` is set.
 */
function runHealthChecks(path: string, checks: HealthChecks, verbose = false): HealthCheckReport {
  const all = [...checks].map(([name, check]) => ({ name, reason: check() }))
  const healthy = all.every(({ reason }) => reason === undefined)
  if (healthy && !verbose) return { healthy, text: 'ok' }
  const lines = all.map(({ name, reason }) =>
    reason === undefined ? `[+]${name} ok` : `[-]${name} failed: ${reason}`,
  )
  return { healthy, text: [...lines, `${path} check ${healthy ? 'passed' : 'failed'}`, ''].join('\n') }
}
