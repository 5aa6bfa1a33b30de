import { createSocket, type Socket } from 'node:dgram'
import { connect, isIP } from 'node:net'
import type {
  NetworkProbeOutcome,
  NetworkProbeResult,
  TcpTarget,
  UdpTarget,
} from '../../contract/network-probe.ts'
import { hasCode } from '../../kit/errors.ts'

/**
 * Times at which a datagram is sent, as fractions of the timeout. Each datagram is sent up to three times,
 * because datagrams may get lost.
 */
const sendFractions = [0, 0.15, 0.4]

/**
 * Sends datagrams from small to large and ends with the first that does not arrive.
 *
 * Linux sets the don't-fragment flag on a datagram that fits its interface, so a link with a smaller MTU
 * drops the datagram. A loss therefore shows that the path MTU is smaller than the MTU of the interfaces. It
 * does not show whether pods are affected, because VXLAN packets do not carry that flag. Some routers
 * fragment VXLAN packets, many do not, and a bridge never does.
 *
 * If a router reports the drop, the kernel learns the path MTU. For ten minutes the kernel then fragments
 * larger datagrams itself, so they arrive. For this reason, a larger datagram is sent only after all smaller
 * ones arrived. A second probe within the ten minutes does not detect the smaller MTU.
 */
export async function probeUdp(
  { address, port, token, sizes }: UdpTarget,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Pick<NetworkProbeResult, 'outcome' | 'size'>> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
  const connected = Promise.withResolvers<NetworkProbeOutcome>()
  socket.on('connect', () => connected.resolve('ok'))
  socket.on('error', (error) => connected.resolve(toProbeOutcome(error)))
  // Only a connected socket receives ICMP errors for its datagrams.
  socket.connect(port, address)
  try {
    let outcome = await connected.promise
    let arrived: number | undefined
    for (const size of outcome === 'ok' ? sizes.toSorted((a, b) => a - b) : []) {
      outcome = await send(socket, size, token, timeoutMs, signal)
      if (outcome !== 'ok') break
      arrived = size
    }
    if (arrived === undefined) return { outcome }
    return { outcome: outcome === 'ok' ? 'ok' : 'too-big', size: arrived }
  } finally {
    socket.close()
  }
}

/** Sends one datagram and repeats it until a reply arrives or the timeout ends. */
async function send(
  socket: Socket,
  size: number,
  token: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<NetworkProbeOutcome> {
  const { promise, resolve } = Promise.withResolvers<NetworkProbeOutcome>()
  const failed = (error: Error): void =>
    resolve(hasCode(error, 'EMSGSIZE') ? 'too-big' : toProbeOutcome(error))
  const onReply = (reply: Buffer): void => {
    if (reply.toString('latin1') === `${token} ${size}`) resolve('ok')
  }
  const giveUp = (): void => resolve('timeout')
  const datagram = Buffer.alloc(size, token)
  const timers = sendFractions.map((part) =>
    setTimeout(() => socket.send(datagram, (error) => error !== null && failed(error)), part * timeoutMs),
  )
  timers.push(setTimeout(giveUp, timeoutMs))
  socket.on('error', failed)
  socket.on('message', onReply)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    return await promise
  } finally {
    timers.forEach((timer) => clearTimeout(timer))
    socket.off('error', failed)
    socket.off('message', onReply)
    signal.removeEventListener('abort', giveUp)
  }
}

/** Maps a connection error to a probe outcome. */
export function toProbeOutcome(error: unknown): NetworkProbeOutcome {
  if (hasCode(error, 'ECONNREFUSED')) return 'refused'
  if (hasCode(error, 'ETIMEDOUT')) return 'timeout'
  // A firewall that rejects packets also leads to this outcome: EHOSTUNREACH from another host, EPERM from
  // this host.
  return 'unreachable'
}

/** Connects to a port. If a token is expected, checks that the server sends it. */
export async function probeTcp(
  { address, port, token }: TcpTarget,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<NetworkProbeOutcome> {
  const { promise, resolve } = Promise.withResolvers<NetworkProbeOutcome>()
  const socket = connect({ host: address, port })
  let connected = false
  let received = ''
  // After the connection is established, the network path works, and any later error comes from the server.
  const end = (otherwise: NetworkProbeOutcome): void => resolve(connected ? 'unexpected-response' : otherwise)
  socket.setEncoding('latin1')
  socket.on('connect', () => {
    connected = true
    if (token === undefined) resolve('ok')
  })
  socket.on('data', (text: string) => {
    received += text
    if (token === undefined || received.length < token.length) return
    resolve(received.startsWith(token) ? 'ok' : 'unexpected-response')
  })
  socket.on('error', (error) => end(toProbeOutcome(error)))
  socket.on('close', () => end('unreachable'))
  const giveUp = (): void => end('timeout')
  const timer = setTimeout(giveUp, timeoutMs)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    socket.destroy()
  }
}
