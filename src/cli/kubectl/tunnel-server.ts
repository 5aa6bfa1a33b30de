import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Opens a connection to an API server. */
export type DialServer = (signal: AbortSignal) => Promise<Duplex>

export interface TunnelServer extends AsyncDisposable {
  readonly port: number
}

/**
 * Listens on loopback and forwards each connection to the first API server that can be reached. TLS stays
 * between kubectl and the API server, so other local users cannot use the port without credentials.
 */
export async function openTunnelServer(
  dials: readonly DialServer[],
  signal: AbortSignal,
): Promise<TunnelServer> {
  const open = new Set<Duplex>()
  const track = <T extends Duplex>(stream: T): T => {
    open.add(stream)
    stream.on('close', () => open.delete(stream))
    return stream
  }
  const forward = async (client: Socket): Promise<void> => {
    track(client)
    // Connection errors are not reported here, because kubectl reports the request that failed.
    client.on('error', () => client.destroy())
    try {
      const server = track(await dialFirst(dials, signal))
      server.on('error', () => client.destroy())
      server.on('close', () => client.destroy())
      client.on('close', () => server.destroy())
      client.pipe(server).pipe(client)
    } catch {
      client.destroy()
    }
  }
  const server = createServer((client) => void forward(client)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.close()
      for (const stream of open) stream.destroy()
    },
  }
}

async function dialFirst(dials: readonly DialServer[], signal: AbortSignal): Promise<Duplex> {
  let problem: unknown = new Error('cluster.yml has no control plane')
  for (const dial of dials) {
    try {
      return await dial(signal)
    } catch (error) {
      problem = error
    }
  }
  throw problem
}
