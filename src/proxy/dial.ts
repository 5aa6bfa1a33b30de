import { connect, type Socket } from 'node:net'
import { formatError } from '../kit/errors.ts'
import { parseAddress } from './address.ts'
import type { ProxyTiming } from './timing.ts'
import type { UpstreamObservation } from './upstreams.ts'

export interface DialResult {
  readonly server: string
  readonly socket: Socket
}

export interface DialListeners {
  /** Called for each server that could not be reached. */
  readonly onUnreachable: (server: string, observation: UpstreamObservation, startedAt: number) => void
  /** Called for each server that was so slow that another one was tried in parallel. */
  readonly onSlow: (server: string, startedAt: number) => void
}

/**
 * Connects to the first server that accepts. If a server is slow, the next one is tried in parallel, so a
 * lost packet does not delay the client. Returns undefined if no server accepts.
 */
export async function dial(
  servers: readonly string[],
  { dialTimeout, slowAfter }: ProxyTiming,
  { onUnreachable, onSlow }: DialListeners,
  signal: AbortSignal,
): Promise<DialResult | undefined> {
  const attempts = new Set<Socket>()
  const { promise, resolve } = Promise.withResolvers<DialResult | undefined>()
  const queue = servers.values()
  let parallelTimer: NodeJS.Timeout | undefined

  const next = (): void => {
    clearTimeout(parallelTimer)
    const { value: server } = queue.next()
    if (server === undefined || signal.aborted) {
      if (attempts.size === 0) resolve(undefined)
      return
    }
    const startedAt = performance.now()
    parallelTimer = setTimeout(() => {
      onSlow(server, startedAt)
      next()
    }, slowAfter)
    attempts.add(attempt(server, startedAt))
  }
  const attempt = (server: string, startedAt: number): Socket => {
    const socket = connect({ ...parseAddress(server), allowHalfOpen: true, ...socketOptions })
    const fail = (observation: UpstreamObservation): void => {
      clearTimeout(timer)
      socket.destroy()
      if (!attempts.delete(socket)) return
      onUnreachable(server, observation, startedAt)
      next()
    }
    const timer = setTimeout(() => fail({ kind: 'silent', reason: 'accepts no connection' }), dialTimeout)
    socket.on('error', (error) => fail({ kind: 'refused', reason: formatError(error) }))
    socket.once('connect', () => {
      clearTimeout(timer)
      if (attempts.delete(socket)) resolve({ server, socket })
    })
    socket.once('close', () => clearTimeout(timer))
    return socket
  }

  const giveUp = (): void => resolve(undefined)
  signal.addEventListener('abort', giveUp, { once: true })
  next()
  try {
    return await promise
  } finally {
    clearTimeout(parallelTimer)
    signal.removeEventListener('abort', giveUp)
    // The set is cleared first, so the close events of these sockets do not count as failures.
    const remaining = [...attempts]
    attempts.clear()
    for (const socket of remaining) socket.destroy()
  }
}

/**
 * Socket options for client and server connections: requests are small and urgent, and dead peers must be
 * detected.
 */
export const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 } as const
