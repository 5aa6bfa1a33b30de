import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/**
 * Starts a local echo server for the duration of the suite. Returns a function that returns the server's
 * port.
 */
export function startEchoServer(): () => Promise<number> {
  let server: Server
  beforeAll(async () => {
    server = createServer({ allowHalfOpen: true }, (socket) => {
      // Clients may disconnect at any time.
      socket.on('error', () => undefined)
      socket.pipe(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => server.close())
  return async () => {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('it does not listen')
    return address.port
  }
}
