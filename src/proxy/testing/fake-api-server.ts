import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { parseAddress } from '../address.ts'
import type { TestAuthority } from './openssl-test-ca.ts'

/** `draining` and `unready`: it serves, and says it does not. `mute`: it takes connections, and says nothing. `strict`: it speaks only to those whom it knows. */
export type Mood = 'ready' | 'draining' | 'unready' | 'mute' | 'strict'

/** As much of an API server as the proxy sees of one, with real TLS on a real port, for tests. */
export class FakeApiServer {
  readonly name: string
  mood: Mood = 'ready'
  /** What it tells those who want to learn. */
  servers: readonly string[] = []
  /** How many have learned from it. */
  learned = 0
  readonly connections = new Set<Socket>()
  /** Requests to /slow that wait for their answer. */
  readonly slow: ServerResponse[] = []
  readonly #server: Server

  private constructor(server: Server, name: string) {
    this.#server = server
    this.name = name
  }

  /** `name` puts it where another one was. */
  static async start({ certificate, server }: TestAuthority, name = '127.0.0.1:0'): Promise<FakeApiServer> {
    const https = createServer({
      ca: certificate,
      cert: server.certificate,
      key: server.privateKey,
      // In later versions the server says something more after the client's first question.
      maxVersion: 'TLSv1.2',
      requestCert: true,
      rejectUnauthorized: false,
    })
    await new Promise<void>((resolve) => https.listen(parseAddress(name), resolve))
    const address = https.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    const fake = new FakeApiServer(https, `127.0.0.1:${port}`)
    https.on('request', (request, response) => fake.#answer(request, response))
    https.on('connection', (socket: Socket) => {
      fake.connections.add(socket)
      socket.on('close', () => fake.connections.delete(socket))
    })
    return fake
  }

  /** As if it were killed. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    for (const socket of this.connections) socket.destroy()
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.mood === 'mute') return
    const known = request.socket instanceof TLSSocket && request.socket.authorized
    if (request.url === '/readyz') {
      const [status, text] = readiness(this.mood, known)
      response.writeHead(status).end(text)
    } else if (request.url?.endsWith('/endpointslices/kubernetes')) {
      this.learned++
      if (known) response.end(JSON.stringify(this.#slice()))
      else response.writeHead(403).end()
    } else if (request.url === '/slow') {
      this.slow.push(response)
    } else {
      response.end(this.name)
    }
  }

  #slice(): object {
    const addresses = this.servers.map(parseAddress)
    return {
      endpoints: addresses.map(({ host }) => ({ addresses: [host], conditions: { ready: true } })),
      ports: addresses.slice(0, 1).map(({ port }) => ({ name: 'https', port })),
    }
  }
}

function readiness(mood: Mood, known: boolean): [status: number, text: string] {
  if (mood === 'draining') return [500, '[-]shutdown failed: reason withheld\n']
  if (mood === 'unready') return [500, '[-]etcd failed: reason withheld\n']
  return mood === 'strict' && !known ? [401, ''] : [200, 'ok']
}
