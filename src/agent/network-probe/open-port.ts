import { createSocket } from 'node:dgram'
import { createServer, isIP, type Socket } from 'node:net'

/** A listening port; closing it frees the port for its real owner. */
export interface OpenPort {
  readonly port: number
  close(): Promise<void>
}

/** Returns undefined if the port is in use. Sends the token to every client. */
export async function openTcpPort(
  address: string,
  port: number,
  token: string,
): Promise<OpenPort | undefined> {
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    // A client that disconnects early needs no more data.
    client.on('error', () => client.destroy())
    client.resume().end(token)
  })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  server.on('error', () => resolve(false))
  server.listen({ host: address, port }, () => resolve(true))
  if (!(await promise)) return undefined
  return {
    port,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()))
      for (const client of clients) client.destroy()
      await closed
    },
  }
}

/** Answers each datagram that begins with the token with the number of bytes received. */
export async function openUdpPort(
  address: string,
  port: number,
  token: string,
): Promise<OpenPort | undefined> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // Later errors come from replies that could not be delivered.
  socket.on('error', () => resolve(false))
  socket.on('message', (datagram, { port: senderPort, address: senderAddress }) => {
    // Replies are never longer than the datagram, so the port cannot amplify traffic.
    if (datagram.toString('latin1', 0, token.length) !== token) return
    socket.send(`${token} ${datagram.length}`, senderPort, senderAddress, () => undefined)
  })
  socket.bind({ address, port, exclusive: true }, () => resolve(true))
  if (!(await promise)) {
    socket.close()
    return undefined
  }
  return {
    port,
    async close() {
      await new Promise<void>((done) => {
        socket.close(() => done())
      })
    },
  }
}
