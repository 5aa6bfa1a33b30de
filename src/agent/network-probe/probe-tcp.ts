import { connect } from 'node:net'
import type { ProbeOutcome, TcpTarget } from '../../contract/network-probe.ts'
import { outcomeOf } from './probe-outcome.ts'

/** Connects, and hears whether it is who it should be. */
export async function probeTcp(
  { address, port, token }: TcpTarget,
  within: number,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { promise, resolve } = Promise.withResolvers<ProbeOutcome>()
  const socket = connect({ host: address, port })
  let connected = false
  let heard = ''
  // Once there is a connection the way is open, and whatever goes wrong is a matter of who is at its end.
  const end = (otherwise: ProbeOutcome): void => resolve(connected ? 'other-answer' : otherwise)
  socket.setEncoding('latin1')
  socket.on('connect', () => {
    connected = true
    if (token === undefined) resolve('ok')
  })
  socket.on('data', (text: string) => {
    heard += text
    if (token === undefined || heard.length < token.length) return
    resolve(heard.startsWith(token) ? 'ok' : 'other-answer')
  })
  socket.on('error', (error) => end(outcomeOf(error)))
  socket.on('close', () => end('unreachable'))
  const giveUp = (): void => end('timeout')
  const timer = setTimeout(giveUp, within)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    socket.destroy()
  }
}
