import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { parseHostPort } from '../../kit/host-port.ts'
import type { OpensslTestCa } from './openssl-test-ca.ts'

/**
 * `draining`, `unready`: responds, but reports that it is not ready. `mute`: accepts connections and never
 * responds. `strict`: requires a client certificate. `closing`: closes new connections without a response.
 */
export type FakeUpstreamMode = 'ready' | 'draining' | 'unready' | 'mute' | 'strict' | 'closing'

/**
 * A TLS server behind the proxy. It serves the two paths that the proxy itself requests: readiness and the
 * EndpointSlice. It stores no objects, because the proxy only relays bytes.
 */
export class FakeUpstream {
  readonly name: string
  mode: FakeUpstreamMode = 'ready'
  /** Addresses in the EndpointSlice that this server returns. */
  servers: readonly string[] = []
  /** Number of requests for the EndpointSlice. */
  discoveryCount = 0
  readonly connections = new Set<Socket>()
  /** Responses to requests for /slow that the test has not completed yet. */
  readonly slow: ServerResponse[] = []
  readonly #server: Server

  private constructor(server: Server, name: string) {
    this.#server = server
    this.name = name
  }

  /** `name` is the address to listen on, for example the address of a closed server. */
  static async start({ certificate, server }: OpensslTestCa, name = '127.0.0.1:0'): Promise<FakeUpstream> {
    const https = createServer({
      ca: certificate,
      cert: server.certificate,
      key: server.privateKey,
      // TLS 1.3 is off, because its servers also send data after the handshake, possibly later than the
      // client's request. The proxy would then count the connection as idle before the response.
      maxVersion: 'TLSv1.2',
      requestCert: true,
      rejectUnauthorized: false,
    })
    await new Promise<void>((resolve) => https.listen(parseHostPort(name), resolve))
    const address = https.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    const fake = new FakeUpstream(https, `127.0.0.1:${port}`)
    https.on('request', (request, response) => fake.#respond(request, response))
    https.on('connection', (socket: Socket) => {
      if (fake.mode === 'closing') socket.destroy()
      fake.connections.add(socket)
      socket.on('close', () => fake.connections.delete(socket))
    })
    return fake
  }

  /** Closes all connections abruptly, as if the process were killed. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    for (const socket of this.connections) socket.destroy()
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve))
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    if (this.mode === 'mute') return
    const authenticated = request.socket instanceof TLSSocket && request.socket.authorized
    if (request.url === '/readyz') {
      const [status, text] = buildReadyz(this.mode, authenticated)
      response.writeHead(status).end(text)
    } else if (request.url?.endsWith('/endpointslices/kubernetes')) {
      this.discoveryCount++
      if (authenticated) response.end(JSON.stringify(this.#slice()))
      else response.writeHead(403).end()
    } else if (request.url === '/slow') {
      this.slow.push(response)
    } else {
      response.end(this.name)
    }
  }

  #slice(): object {
    const addresses = this.servers.map(parseHostPort)
    return {
      endpoints: addresses.map(({ host }) => ({ addresses: [host], conditions: { ready: true } })),
      ports: addresses.slice(0, 1).map(({ port }) => ({ name: 'https', port })),
    }
  }
}

function buildReadyz(mode: FakeUpstreamMode, authenticated: boolean): [status: number, text: string] {
  if (mode === 'draining') return [500, '[-]shutdown failed: reason withheld\n']
  if (mode === 'unready') return [500, '[-]etcd failed: reason withheld\n']
  return mode === 'strict' && !authenticated ? [401, ''] : [200, 'ok']
}
