import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { openTunnelServer } from './tunnel-server.ts'

const stack = new AsyncDisposableStack()
afterEach(async () => stack.disposeAsync())

async function startEcho(): Promise<number> {
  const server = createServer((socket: Socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

test('a connection uses the first reachable server and closes with the tunnel', async () => {
  const port = await startEcho()
  const dialed: string[] = []
  const signal = new AbortController().signal
  const tunnel = await openTunnelServer(
    [
      async () => {
        dialed.push('cp1')
        throw new Error('unreachable')
      },
      async () => {
        dialed.push('cp2')
        const socket = connect(port, '127.0.0.1')
        await once(socket, 'connect')
        return socket
      },
    ],
    signal,
  )
  const client = connect(tunnel.port, '127.0.0.1')
  client.write('hello')
  const [reply]: Buffer[] = await once(client, 'data')
  expect(reply?.toString()).toBe('hello')
  expect(dialed).toEqual(['cp1', 'cp2'])
  await tunnel[Symbol.asyncDispose]()
  await once(client, 'close')
})

test('without any reachable server the connection is closed', async () => {
  const signal = new AbortController().signal
  await using tunnel = await openTunnelServer([async () => Promise.reject(new Error('no'))], signal)
  const client = connect(tunnel.port, '127.0.0.1')
  client.on('error', () => undefined)
  await once(client, 'close')
  expect(client.bytesRead).toBe(0)
})
