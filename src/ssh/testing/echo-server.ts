import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/** A server on this machine that sends back what it gets, as long as the suite runs. Answers with its port. */
export function echoServer(): () => Promise<number> {
  let server: Server
  beforeAll(async () => {
    server = createServer({ allowHalfOpen: true }, (socket) => {
      // Clients go as they like.
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
