import { connect, type Socket } from 'node:net'
import { describe } from '../kit/errors.ts'
import { parseAddress } from './address.ts'
import type { Timing } from './timing.ts'
import type { Observation } from './upstreams.ts'

export interface Reached {
  readonly server: string
  readonly socket: Socket
}

export interface DialListeners {
  /** Of every server that could not be reached. */
  readonly missed: (server: string, seen: Observation, askedAt: number) => void
  /** Of every server that took so long that another was tried beside it. */
  readonly doubted: (server: string, askedAt: number) => void
}

/**
 * Connects to the first server that accepts. One that takes its time gets company soon: whoever is first wins, and nobody
 * waits for a packet that was lost. Undefined when no server accepts.
 */
export async function dial(
  servers: readonly string[],
  { dialWithin, doubtAfter }: Timing,
  { missed, doubted }: DialListeners,
  signal: AbortSignal,
): Promise<Reached | undefined> {
  const attempts = new Set<Socket>()
  const { promise, resolve } = Promise.withResolvers<Reached | undefined>()
  const waiting = servers.values()
  let company: NodeJS.Timeout | undefined

  const next = (): void => {
    clearTimeout(company)
    const { value: server } = waiting.next()
    if (server === undefined || signal.aborted) {
      if (attempts.size === 0) resolve(undefined)
      return
    }
    const askedAt = performance.now()
    company = setTimeout(() => {
      doubted(server, askedAt)
      next()
    }, doubtAfter)
    attempts.add(attempt(server, askedAt))
  }
  const attempt = (server: string, askedAt: number): Socket => {
    const socket = connect({ ...parseAddress(server), allowHalfOpen: true, ...lively })
    const miss = (seen: Observation): void => {
      clearTimeout(timer)
      socket.destroy()
      if (!attempts.delete(socket)) return
      missed(server, seen, askedAt)
      next()
    }
    const timer = setTimeout(() => miss({ kind: 'silent', reason: 'accepts no connection' }), dialWithin)
    socket.on('error', (error) => miss({ kind: 'refused', reason: describe(error) }))
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
    clearTimeout(company)
    signal.removeEventListener('abort', giveUp)
    // Forgotten first, so that their end counts for nothing.
    const losers = [...attempts]
    attempts.clear()
    for (const socket of losers) socket.destroy()
  }
}

/** For both sides: requests are small and urgent, and a side that is gone shall be missed. */
export const lively = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 } as const
