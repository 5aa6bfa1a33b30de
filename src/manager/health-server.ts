import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { HyperkubeError } from '../kit/errors.ts'
import type { Listen } from './config.ts'
import { type Checks, healthOf } from './health-checks.ts'

/** What is told, by its path: livez, readyz, healthz. */
export interface FrontOptions {
  readonly checks: (path: string) => Checks | undefined
  readonly metrics: () => string
}

export interface Front extends AsyncDisposable {
  readonly port: number
}

/** Tells how the manager is: `/livez`, `/readyz`, `/healthz`, each of their checks below them, and `/metrics`. */
export async function openFront({ host, port }: Listen, options: FrontOptions): Promise<Front> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://manager')
    answer(response, pathname.slice(1), searchParams.has('verbose'), options)
  })
  server.listen(port, host)
  await once(server, 'listening').catch((cause: unknown) => {
    throw new HyperkubeError('MANAGER_NOT_LISTENING', `nothing can be told at ${host}:${port}`, { cause })
  })
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

function answer(
  response: ServerResponse,
  path: string,
  verbose: boolean,
  { checks, metrics }: FrontOptions,
): void {
  const say = (status: number, text: string): void =>
    void response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
  if (path === 'metrics') {
    response.setHeader('content-type', 'text/plain; version=0.0.4')
    response.end(metrics())
    return
  }
  const [kind = '', name, ...rest] = path.split('/')
  const all = checks(kind)
  const check = name === undefined ? undefined : all?.get(name)
  if (all === undefined || rest.length > 0 || (name !== undefined && check === undefined)) return say(404, '')
  const some = name === undefined || check === undefined ? all : new Map([[name, check]])
  const { well, text } = healthOf(path, some, verbose)
  say(well ? 200 : 500, text)
}
