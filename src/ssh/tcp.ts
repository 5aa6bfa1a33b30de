import { connect, type Socket } from 'node:net'
import type { ConnectSettings } from './options.ts'
import type { Hop } from './ssh-route.ts'
import { toUnreachableReason, buildUnreachableError } from './unreachable-error.ts'
import { startDeadline, waitUnlessAborted } from './deadline.ts'

/** Opens a TCP connection. Without noDelay, each small ssh packet would wait for the previous one. */
export async function connectTcp(
  hop: Hop,
  { host, timeout, signal }: Pick<ConnectSettings, 'host' | 'timeout' | 'signal'>,
): Promise<Socket> {
  const limit = startDeadline(signal, timeout, () =>
    buildUnreachableError(host, hop, { kind: 'no-answer', after: timeout }),
  )
  const socket = connect({
    host: hop.address,
    port: hop.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 15_000,
  })
  try {
    return await waitUnlessAborted([limit.signal], ({ succeed, fail }) => {
      socket.once('connect', () => succeed(socket))
      // Stays attached: an error event without a listener would crash the process.
      socket.on('error', (error) =>
        fail(buildUnreachableError(host, hop, toUnreachableReason(error, timeout))),
      )
    })
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    limit.clear()
  }
}
