import { createSocket } from 'node:dgram'
import { createServer, isIP, type Socket } from 'node:net'

/** An open port. It must be closed before the component that normally uses the port starts. */
export interface OpenPort {
  readonly port: number
  close(): Promise<void>
}

/** Opens a TCP port and sends the token to every client. Returns undefined if the port is in use. */
export async function openTcpPort(
  address: string,
  port: number,
  token: string,
): Promise<OpenPort | undefined> {
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    // A client may disconnect before it has received the token.
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

/**
 * Opens a UDP port. Each datagram that begins with the token is answered with the number of bytes received.
 * Returns undefined if the port is in use.
 */
export async function openUdpPort(
  address: string,
  port: number,
  token: string,
): Promise<OpenPort | undefined> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // After the bind, errors only mean that a reply could not be delivered; they are ignored.
  socket.on('error', () => resolve(false))
  socket.on('message', (datagram, { port: senderPort, address: senderAddress }) => {
    // Only datagrams with the token get a reply, and the reply is short, so the port cannot amplify traffic.
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
