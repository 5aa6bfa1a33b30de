import { connect, type Socket } from 'node:net'
import type { Settings } from './options.ts'
import type { Hop } from './ssh-route.ts'
import { obstacleOf, unreachable } from './unreachable-error.ts'
import { expiring, unlessAborted } from './deadline.ts'

/** A connection of our own making: without noDelay each of ssh's small packets would wait for the one before it. */
export async function connectTcp(
  hop: Hop,
  { host, timeout, signal }: Pick<Settings, 'host' | 'timeout' | 'signal'>,
): Promise<Socket> {
  const limit = expiring(signal, timeout, () => unreachable(host, hop, { kind: 'no-answer', after: timeout }))
  const socket = connect({
    host: hop.address,
    port: hop.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 15_000,
  })
  try {
    return await unlessAborted([limit.signal], ({ succeed, fail }) => {
      socket.once('connect', () => succeed(socket))
      // Stays: an error of a socket that nobody listens to would end us.
      socket.on('error', (error) => fail(unreachable(host, hop, obstacleOf(error, timeout))))
    })
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    limit.clear()
  }
}
