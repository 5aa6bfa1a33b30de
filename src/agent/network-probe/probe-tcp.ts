import { connect } from 'node:net'
import type { NetworkProbeOutcome, TcpTarget } from '../../contract/network-probe.ts'
import { toProbeOutcome } from './probe-outcome.ts'

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
