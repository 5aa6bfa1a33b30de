import { connect, createServer, type Server as Listener, type Socket } from 'node:net'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import { parseHostPort } from '../kit/host-port.ts'
import { ConnectionHandshake, type HandshakeResult, ProxiedConnection } from './client-connection.ts'
import type { ProxyTiming } from './timing.ts'
import type { ApiServer, UpstreamPool } from './upstream-pool.ts'
import type { UpstreamObservation } from './upstreams.ts'

/** Accepts client connections and assigns them to servers. */
export class ProxyListener {
  refused = 0
  unserved = 0
  readonly #listener: Listener
  readonly #pool: UpstreamPool
  readonly #timing: ProxyTiming
  readonly #random: () => number
  readonly #onWait: () => void
  readonly #closing = new AbortController()

  /** `onWait` is called when a client begins to wait for a server. */
  constructor(pool: UpstreamPool, timing: ProxyTiming, random: () => number, onWait: () => void) {
    this.#pool = pool
    this.#timing = timing
    this.#random = random
    this.#onWait = onWait
    // A client's data stays in the kernel buffer until a server is found, so memory use is limited.
    this.#listener = createServer(
      { pauseOnConnect: true, allowHalfOpen: true, ...socketOptions },
      (client) => {
        void this.#serve(client)
      },
    )
    this.#listener.on('drop', () => this.refused++)
  }

  get listening(): boolean {
    return this.#listener.listening
  }

  /** The port on which the proxy listens; undefined before it listens. */
  get port(): number | undefined {
    const address = this.#listener.address()
    return address !== null && typeof address === 'object' ? address.port : undefined
  }

  get maxConnections(): number {
    return this.#listener.maxConnections
  }

  set maxConnections(limit: number) {
    this.#listener.maxConnections = limit
  }

  async listen(address: string, log: (line: string) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#listener.once('error', (cause) =>
      reject(
        new HyperkubeError('PROXY_NOT_LISTENING', `cannot listen at ${address}`, {
          hint: `to find the process that uses the port: ss -tlnp`,
          cause,
        }),
      ),
    )
    this.#listener.listen({ ...parseHostPort(address), backlog: 4096 }, resolve)
    await promise
    this.#listener.removeAllListeners('error').on('error', (error) => log(`listening: ${error.message}`))
  }

  /** Stops accepting clients. Resolves when all client connections are closed. */
  async close(): Promise<void> {
    await new Promise((resolve) => this.#listener.close(resolve))
  }

  /** Aborts the search for a server. Only clients that are not connected to a server yet are affected. */
  abortDials(): void {
    this.#closing.abort()
  }

  /**
   * Finds a server for a client. A server that closes the connection before it sends data counts as
   * unreachable.
   */
  async #serve(client: Socket): Promise<void> {
    client.on('error', () => client.destroy())
    const buffered: Buffer[] = []
    const tried = new Set<string>()
    // A server that closes each connection must not keep a client forever.
    const giveUpAt = performance.now() + this.#timing.restartTime
    const listeners: DialListeners = {
      onUnreachable: (name, observation, startedAt) => {
        tried.add(name)
        this.#pool.recordMiss(name, observation, startedAt, performance.now())
        this.#onWait()
      },
      onSlow: (name, startedAt) => {
        this.#pool.recordSlow(name, startedAt)
        this.#onWait()
      },
    }
    while (!client.destroyed) {
      if (await this.#waitForRestart(client, giveUpAt)) tried.clear()
      const untried = this.#pool.order(performance.now()).filter((name) => !tried.has(name))
      const reached = await dial(untried, this.#timing, listeners, this.#closing.signal)
      if (reached === undefined) {
        if (this.#isRestarting(giveUpAt)) continue
        this.unserved++
        client.destroy()
        return
      }
      tried.add(reached.server)
      const reachedAt = performance.now()
      const server = this.#pool.findOrAdd(reached.server, reachedAt)
      const outcome = await this.#handshake(client, reached.socket, server, buffered)
      if (outcome === 'established') this.#connect(client, reached.socket, server)
      if (outcome === 'gone') client.destroy()
      if (outcome === 'refused') listeners.onUnreachable(reached.server, closedUnserved, reachedAt)
      else if (outcome === 'elsewhere') server.totals.misses++
      else return
    }
  }

  #findDeadline(giveUpAt: number): number {
    return Math.min(giveUpAt, this.#pool.findRestartDeadline())
  }

  #isRestarting(giveUpAt: number): boolean {
    return !this.#closing.signal.aborted && performance.now() < this.#findDeadline(giveUpAt)
  }

  /**
   * Waits while no server is ready, so that the restart of the only API server does not fail requests. A
   * server that starts accepts connections before it can serve them, so only a probe ends the wait. Returns
   * true if the client had to wait.
   */
  async #waitForRestart(client: Socket, giveUpAt: number): Promise<boolean> {
    let hasWaited = false
    while (!client.destroyed && this.#isRestarting(giveUpAt)) {
      hasWaited = true
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, this.#findDeadline(giveUpAt) - performance.now())
      const removeListener = this.#pool.onceResponding(resolve)
      const onAbort = (): void => resolve()
      client.once('close', resolve)
      this.#closing.signal.addEventListener('abort', onAbort)
      await promise
      clearTimeout(timer)
      removeListener()
      client.off('close', resolve)
      this.#closing.signal.removeEventListener('abort', onAbort)
    }
    return hasWaited
  }

  async #handshake(
    client: Socket,
    socket: Socket,
    server: ApiServer,
    buffered: Buffer[],
  ): Promise<HandshakeResult> {
    const handshake = new ConnectionHandshake(client, socket, buffered, this.#random(), this.#onWait)
    server.connections.add(handshake)
    const outcome = await handshake.outcome
    server.connections.delete(handshake)
    return outcome
  }

  #connect(client: Socket, socket: Socket, server: ApiServer): void {
    server.totals.connections++
    const closed = (): void => {
      server.connections.delete(connection)
      server.totals.sent += connection.sent
      server.totals.received += connection.received
    }
    const connection = new ProxiedConnection(client, socket, this.#random(), this.#onWait, closed)
    server.connections.add(connection)
  }
}

/**
 * An API server that stops closes its listening socket. The kernel then resets connections that it had
 * accepted for the server.
 */
const closedUnserved = {
  kind: 'refused',
  reason: 'closes connections without a response',
} as const satisfies UpstreamObservation

interface DialResult {
  readonly server: string
  readonly socket: Socket
}

interface DialListeners {
  /** Called for each server that could not be reached. */
  readonly onUnreachable: (server: string, observation: UpstreamObservation, startedAt: number) => void
  /** Called for each server that was so slow that another server was tried in parallel. */
  readonly onSlow: (server: string, startedAt: number) => void
}

/**
 * Connects to the first server that accepts. If a server is slow, the next one is tried in parallel, so a
 * lost packet does not delay the client. Returns undefined if no server accepts.
 */
async function dial(
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
    const socket = connect({ ...parseHostPort(server), allowHalfOpen: true, ...socketOptions })
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
    // The set is cleared first. Otherwise the close events of the remaining sockets would count as failures.
    const remaining = [...attempts]
    attempts.clear()
    for (const socket of remaining) socket.destroy()
  }
}

/**
 * Socket options for client and server connections: requests are small and urgent, and dead peers must be
 * detected.
 */
const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 } as const
