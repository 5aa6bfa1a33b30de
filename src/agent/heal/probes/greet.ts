import { connect } from 'node:tls'
import { toProbeOutcome } from '../../network-probe/probe-outcome.ts'

/**
 * Checks whether a port is reachable, with a complete TLS handshake: a kubelet logs a line about every
 * connection without one. Only the path matters, so no certificate is verified and nothing is sent.
 */
export async function canConnect(
  { address, port }: { readonly address: string; readonly port: number },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: address, port, rejectUnauthorized: false })
  // Once connected, the path is open; later errors concern only the program at the other end.
  let connected = false
  socket.on('connect', () => (connected = true))
  socket.on('secureConnect', () => resolve(true))
  socket.on('error', (error) => resolve(connected || toProbeOutcome(error) === 'refused'))
  const giveUp = (): void => resolve(connected)
  const timer = setTimeout(giveUp, timeoutMs)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    socket.destroySoon()
  }
}
