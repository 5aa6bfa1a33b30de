import { once } from 'node:events'
import { createServer, request as sendRequest } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface LoginProxy extends AsyncDisposable {
  readonly url: string
  /** Targets of all accepted requests: HOST:PORT of tunnels, and URLs of plain requests. */
  readonly targets: readonly string[]
  /** Number of requests that were refused because of their login. */
  readonly refused: () => number
}

/** Starts an HTTP proxy on loopback that demands a login. Every name leads to loopback. */
export async function startLoginProxy(user: string, password: string): Promise<LoginProxy> {
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const targets: string[] = []
  let refused = 0
  const server = createServer((request, response) => {
    if (request.headers['proxy-authorization'] !== expected) {
      refused++
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="test"' }).end()
      return
    }
    const { port, pathname } = new URL(request.url ?? '')
    targets.push(request.url ?? '')
    sendRequest({ host: '127.0.0.1', port, path: pathname, headers: request.headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 500, upstream.headers)
      upstream.pipe(response)
    }).end()
  })
  server.on('connect', (request, socket) => {
    if (request.headers['proxy-authorization'] !== expected) {
      refused++
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n')
      return
    }
    targets.push(request.url ?? '')
    const upstream = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => void sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    targets,
    refused: () => refused,
    async [Symbol.asyncDispose]() {
      // Tunnels are not HTTP connections, so closeAllConnections does not end them.
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
