import { createSocket } from 'node:dgram'
import { createServer, isIP, type Socket } from 'node:net'
import type { Listening, ListenSpec } from '../../contract/network-probe.ts'

interface OpenListener {
  readonly token: string
  readonly close: () => Promise<void>
}

/**
 * Opens ports on this host for a short time, so that other hosts can probe them. The listeners serve one
 * client at a time.
 */
export class Listeners {
  #open: OpenListener | undefined
  /** True from a `listen` call until its ports are closed. */
  #busy = false

  /** Opens the requested ports that are free. Returns empty lists while another client uses the listeners. */
  async listen(
    { address, tcp, udp, token, for: durationMs }: ListenSpec,
    disconnected: AbortSignal,
  ): Promise<Listening> {
    if (this.#busy) return { tcp: [], udp: [] }
    this.#busy = true
    const [openedTcp, openedUdp] = await Promise.all([
      openAll(tcp, async (port) => openTcpPort(address, port, token)),
      openAll(udp, async (port) => openUdpPort(address, port, token)),
    ])
    this.#keepOpen([...openedTcp, ...openedUdp], token, durationMs, disconnected)
    return { tcp: openedTcp.map(({ port }) => port), udp: openedUdp.map(({ port }) => port) }
  }

  /** Closes the ports that were opened with this token. Resolves when they are free again. */
  async stopListening(token: string): Promise<void> {
    if (this.#open?.token === token) await this.#open.close()
  }

  #keepOpen(ports: readonly OpenPort[], token: string, durationMs: number, disconnected: AbortSignal): void {
    let closing: Promise<void> | undefined
    const close = async (): Promise<void> => {
      clearTimeout(timer)
      disconnected.removeEventListener('abort', closeNow)
      await Promise.all(ports.map(async (port) => port.close()))
      this.#open = undefined
      this.#busy = false
    }
    const closeOnce = async (): Promise<void> => {
      closing ??= close()
      await closing
    }
    const closeNow = (): void => void closeOnce()
    const timer = setTimeout(closeNow, durationMs)
    disconnected.addEventListener('abort', closeNow, { once: true })
    this.#open = { token, close: closeOnce }
    if (disconnected.aborted) closeNow()
  }
}

async function openAll(
  ports: readonly number[],
  open: (port: number) => Promise<OpenPort | undefined>,
): Promise<OpenPort[]> {
  const opened = await Promise.all(ports.map(open))
  return opened.filter((port) => port !== undefined)
}

/** An open port. It must be closed before the component that normally uses the port starts. */
interface OpenPort {
  readonly port: number
  close(): Promise<void>
}

/** Opens a TCP port and sends the token to every client. Returns undefined if the port is in use. */
async function openTcpPort(address: string, port: number, token: string): Promise<OpenPort | undefined> {
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    // A client may disconnect before it has received the token. This is not a problem of the server.
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
async function openUdpPort(address: string, port: number, token: string): Promise<OpenPort | undefined> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // After the bind, an error only means that a reply could not be delivered. `resolve` then has no effect.
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
