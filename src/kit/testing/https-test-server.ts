import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { TestCa } from './test-ca.ts'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly contentType: string | undefined
  readonly body: unknown
  /** The common name in the client's certificate; empty without a certificate. */
  readonly user: string
  /** The user in the client's impersonation header. */
  readonly impersonatedUser: string | undefined
  readonly authorization: string | undefined
  readonly userAgent: string | undefined
  /** Number of the connection that carried the request, counted from 1. */
  readonly connection: number
}

export type TestResponse =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly json: unknown }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly text: string }
  /** The connection is closed before the response or in the middle of it. */
  | { readonly cut: 'before' | 'middle' }
  | { readonly silent: true }
  /** Lets the test write the response itself. */
  | { readonly by: (response: ServerResponse) => void }

export interface HttpsTestServer extends AsyncDisposable {
  readonly url: string
  /** All requests in order of arrival. */
  readonly requests: readonly ReceivedRequest[]
}

/** Starts an HTTPS server on loopback that requests client certificates. Port 0 picks a free port. */
export async function startHttpsTestServer(
  { certificate, server: pair }: TestCa,
  reply: (requests: ReceivedRequest) => TestResponse,
  port = 0,
  requiresCertificate = true,
): Promise<HttpsTestServer> {
  const requests: ReceivedRequest[] = []
  const connections = new WeakMap<object, number>()
  let count = 0
  const server = createServer(
    { ca: certificate, cert: pair.certificate, key: pair.privateKey, requestCert: requiresCertificate },
    (request, response) => {
      const handle = async (): Promise<void> => {
        const { pathname, searchParams } = new URL(request.url ?? '/', 'https://test')
        const text = await readBody(request)
        const received: ReceivedRequest = {
          method: request.method ?? '',
          path: pathname,
          query: searchParams,
          contentType: request.headers['content-type'],
          body: text === '' ? undefined : JSON.parse(text),
          user: readCommonName(request),
          impersonatedUser: request.headers['impersonate-user']?.toString(),
          authorization: request.headers.authorization,
          userAgent: request.headers['user-agent'],
          connection: connections.get(request.socket) ?? 0,
        }
        requests.push(received)
        send(response, reply(received))
      }
      handle().catch((error: unknown) =>
        response.destroy(new Error('the test server failed', { cause: error })),
      )
    },
  )
  server.on('secureConnection', (socket) => connections.set(socket, ++count))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

function readCommonName({ socket }: IncomingMessage): string {
  if (!(socket instanceof TLSSocket)) return ''
  const { subject }: Partial<PeerCertificate> = socket.getPeerCertificate()
  return String(subject?.CN ?? '')
}

function send(response: ServerResponse, reply: TestResponse): void {
  if ('silent' in reply) return
  if ('by' in reply) return reply.by(response)
  if ('cut' in reply) {
    if (reply.cut === 'before') response.destroy()
    else response.writeHead(200, { 'content-length': 100 }).write('{"half', () => response.destroy())
    return
  }
  const { status = 200, headers } = reply
  if ('text' in reply) response.writeHead(status, headers).end(reply.text)
  else
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(reply.json))
}
