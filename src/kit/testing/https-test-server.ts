import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { TLSSocket } from 'node:tls'
import type { TestAuthority } from './test-ca.ts'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly contentType: string | undefined
  readonly body: unknown
  /** The common name in the client's certificate. */
  readonly user: string
  /** Whose rights it asks to have, where not its own. */
  readonly as: string | undefined
  /** From which connection it came: they count from 1. */
  readonly connection: number
}

export type TestAnswer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly json: unknown }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly text: string }
  /** The connection ends before the answer, or in the middle of it. */
  | { readonly cut: 'before' | 'within' }
  | { readonly silent: true }
  /** Whatever else an answer can be. */
  | { readonly by: (response: ServerResponse) => void }

export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** All that was asked, in order. */
  readonly asked: readonly Asked[]
}

/** An HTTPS server on loopback that wants to know who its clients are. `port` 0 is any. */
export async function testServer(
  { certificate, server: pair }: TestAuthority,
  answer: (asked: Asked) => TestAnswer,
  port = 0,
): Promise<TestServer> {
  const asked: Asked[] = []
  const connections = new WeakMap<object, number>()
  let count = 0
  const server = createServer(
    { ca: certificate, cert: pair.certificate, key: pair.privateKey, requestCert: true },
    (request, response) => {
      const handle = async (): Promise<void> => {
        const { pathname, searchParams } = new URL(request.url ?? '/', 'https://test')
        const text = await readBody(request)
        const one: Asked = {
          method: request.method ?? '',
          path: pathname,
          query: searchParams,
          contentType: request.headers['content-type'],
          body: text === '' ? undefined : JSON.parse(text),
          user: userOf(request),
          as: request.headers['impersonate-user']?.toString(),
          connection: connections.get(request.socket) ?? 0,
        }
        asked.push(one)
        send(response, answer(one))
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
    asked,
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

function userOf({ socket }: IncomingMessage): string {
  return socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject.CN) : ''
}

function send(response: ServerResponse, answer: TestAnswer): void {
  if ('silent' in answer) return
  if ('by' in answer) return answer.by(response)
  if ('cut' in answer) {
    if (answer.cut === 'before') response.destroy()
    else response.writeHead(200, { 'content-length': 100 }).write('{"half', () => response.destroy())
    return
  }
  const { status = 200, headers } = answer
  if ('text' in answer) response.writeHead(status, headers).end(answer.text)
  else
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(answer.json))
}
