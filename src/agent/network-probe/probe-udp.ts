import { createSocket, type Socket } from 'node:dgram'
import { isIP } from 'node:net'
import type { ProbeOutcome, ProbeResult, UdpTarget } from '../../contract/network-probe.ts'
import { hasCode } from '../../kit/errors.ts'
import { outcomeOf } from './probe-outcome.ts'

/** A datagram may get lost: each is sent three times before it counts. As parts of the whole time. */
const tries = [0, 0.15, 0.4]

/**
 * Sends datagrams from small to large, and ends with the first that does not arrive.
 *
 * Linux marks a datagram that fits its interface as not to be cut, so one that is too large for a link in between is
 * dropped there. Packets of vxlan are not marked: a router that does so cuts them, many do not, and a bridge never does.
 * So a loss shows that the way is smaller than the interfaces at its ends; whether pods bear it, it cannot show.
 *
 * A router that says why it drops teaches the kernel, which from then on, for ten minutes, cuts by itself what is too
 * large. That is why a larger one is sent only after all smaller ones arrived, and why a second probe in these minutes
 * sees nothing amiss.
 */
export async function probeUdp(
  { address, port, token, sizes }: UdpTarget,
  within: number,
  signal: AbortSignal,
): Promise<Pick<ProbeResult, 'outcome' | 'size'>> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
  const connected = Promise.withResolvers<ProbeOutcome>()
  socket.on('connect', () => connected.resolve('ok'))
  socket.on('error', (error) => connected.resolve(outcomeOf(error)))
  // Only a socket that is connected is told what routers and the other host say of its datagrams.
  socket.connect(port, address)
  try {
    let outcome = await connected.promise
    let arrived: number | undefined
    for (const size of outcome === 'ok' ? sizes.toSorted((a, b) => a - b) : []) {
      outcome = await send(socket, size, token, within, signal)
      if (outcome !== 'ok') break
      arrived = size
    }
    if (arrived === undefined) return { outcome }
    return { outcome: outcome === 'ok' ? 'ok' : 'too-big', size: arrived }
  } finally {
    socket.close()
  }
}

/** One datagram, again while no answer comes. */
async function send(
  socket: Socket,
  size: number,
  token: string,
  within: number,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { promise, resolve } = Promise.withResolvers<ProbeOutcome>()
  const failed = (error: Error): void => resolve(hasCode(error, 'EMSGSIZE') ? 'too-big' : outcomeOf(error))
  const heard = (answer: Buffer): void => {
    if (answer.toString('latin1') === `${token} ${size}`) resolve('ok')
  }
  const giveUp = (): void => resolve('timeout')
  const datagram = Buffer.alloc(size, token)
  const timers = tries.map((part) =>
    setTimeout(() => socket.send(datagram, (error) => error !== null && failed(error)), part * within),
  )
  timers.push(setTimeout(giveUp, within))
  socket.on('error', failed)
  socket.on('message', heard)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    return await promise
  } finally {
    timers.forEach((timer) => clearTimeout(timer))
    socket.off('error', failed)
    socket.off('message', heard)
    signal.removeEventListener('abort', giveUp)
  }
}
