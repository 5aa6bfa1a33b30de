import { createSocket } from 'node:dgram'
import { createServer, isIP, type Socket } from 'node:net'

/** A port that is listened on, until it is closed: then it is free for whom it belongs to. */
export interface OpenPort {
  readonly port: number
  close(): Promise<void>
}

/** Undefined when the port is taken. Whoever connects is told the token. */
export async function openTcp(address: string, port: number, token: string): Promise<OpenPort | undefined> {
  const guests = new Set<Socket>()
  const server = createServer((guest) => {
    guests.add(guest)
    guest.on('close', () => guests.delete(guest))
    // Whoever leaves before the last word has heard enough.
    guest.on('error', () => guest.destroy())
    guest.resume().end(token)
  })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  server.on('error', () => resolve(false))
  server.listen({ host: address, port }, () => resolve(true))
  if (!(await promise)) return undefined
  return {
    port,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()))
      for (const guest of guests) guest.destroy()
      await closed
    },
  }
}

/** The same for datagrams: to one that begins with the token it is answered how many bytes of it arrived. */
export async function openUdp(address: string, port: number, token: string): Promise<OpenPort | undefined> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // Later ones come from answers that found nobody.
  socket.on('error', () => resolve(false))
  socket.on('message', (datagram, { port: asker, address: from }) => {
    // An answer is never longer than what it answers, or others could be flooded by way of us.
    if (datagram.toString('latin1', 0, token.length) !== token) return
    socket.send(`${token} ${datagram.length}`, asker, from, () => undefined)
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
