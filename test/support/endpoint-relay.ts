import { connect, createServer, type Socket } from 'node:net'
import type { Endpoint, LoadTarget } from './api-transports.ts'

const connectTimeoutMs = 1000

export interface OpenedTarget extends Disposable {
  readonly target: LoadTarget
}

/**
 * Lets clients with one address reach a target with several endpoints, as clients with a list of servers do. Each
 * connection goes to the first endpoint that accepts it. Connections are not inspected or repeated.
 */
export async function openTarget(target: LoadTarget): Promise<OpenedTarget> {
  const { others = [], credentials, host, port } = target
  if (others.length === 0) return { target, [Symbol.dispose]: () => undefined }
  const sockets = new Set<Socket>()
  const server = createServer({ pauseOnConnect: true }, (client) => {
    sockets.add(client)
    client.on('close', () => sockets.delete(client))
    forward(client, [{ host, port }, ...others])
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the relay has no port')
  return {
    target: { host: '127.0.0.1', port: address.port, credentials },
    [Symbol.dispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Connects a client to the first endpoint that accepts the connection. Without one, the client's connection ends. */
function forward(client: Socket, [endpoint, ...others]: readonly Endpoint[]): void {
  if (endpoint === undefined || client.destroyed) {
    client.destroy()
    return
  }
  const upstream = connect(endpoint)
  upstream.setTimeout(connectTimeoutMs, () => upstream.destroy())
  const tryNext = (): void => forward(client, others)
  const closeUpstream = (): void => void upstream.destroy()
  client.on('error', closeUpstream)
  client.on('close', closeUpstream)
  upstream.on('error', () => undefined)
  upstream.once('close', tryNext)
  upstream.once('connect', () => {
    upstream.setTimeout(0)
    upstream.removeListener('close', tryNext)
    upstream.on('close', () => client.destroy())
    client.pipe(upstream)
    upstream.pipe(client)
  })
}
