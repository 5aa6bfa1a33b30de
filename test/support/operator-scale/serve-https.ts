import { once } from 'node:events'
import { createServer } from 'node:https'
import { buffer } from 'node:stream/consumers'
import type { ServerResponse } from 'node:http'

export interface ServerKeyPair {
  readonly certificate: string
  readonly privateKey: string
}

export interface SimulatedRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly contentType: string | undefined
  readonly body: unknown
}

export interface SimulatedResponse {
  readonly status?: number
  /** Body of the response. Text is sent unchanged, everything else as JSON. */
  readonly body: unknown
}

/** Serves HTTPS on a free loopback port. The server does not check client certificates. Returns the port. */
export async function serveHttps(
  { certificate, privateKey }: ServerKeyPair,
  respond: (request: SimulatedRequest) => SimulatedResponse,
): Promise<number> {
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    const handle = async (): Promise<void> => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'https://simulated')
      const text = (await buffer(request)).toString('utf8')
      const received = {
        ...{ method: request.method ?? '', path: pathname, query: searchParams },
        contentType: request.headers['content-type'],
        body: text === '' ? undefined : JSON.parse(text),
      }
      send(response, respond(received))
    }
    handle().catch((error: unknown) => response.destroy(new Error('not simulated', { cause: error })))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

function send(response: ServerResponse, { status = 200, body }: SimulatedResponse): void {
  if (typeof body === 'string') response.writeHead(status).end(body)
  else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
