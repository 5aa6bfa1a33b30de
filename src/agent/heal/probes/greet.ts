import { connect } from 'node:tls'
import { outcomeOf } from '../../network-probe/probe-outcome.ts'

/**
 * Whether anybody is at a port, by a whole handshake: a kubelet writes a line into its log about everybody who only knocks.
 * Who it is does not matter to whoever asks for the way, so that no certificate is looked at, and nothing is said.
 */
export async function isThere(
  { address, port }: { readonly address: string; readonly port: number },
  within: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: address, port, rejectUnauthorized: false })
  // Once there is a connection the way is open, and whatever goes wrong is a matter of who is at its end.
  let connected = false
  socket.on('connect', () => (connected = true))
  socket.on('secureConnect', () => resolve(true))
  socket.on('error', (error) => resolve(connected || outcomeOf(error) === 'refused'))
  const giveUp = (): void => resolve(connected)
  const timer = setTimeout(giveUp, within)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    socket.destroySoon()
  }
}
