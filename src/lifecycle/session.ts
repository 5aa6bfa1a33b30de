import type { Event } from '../contract/event.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { pollUntil } from '../kit/poll-until.ts'
import type { Remote } from '../ssh/remote.ts'
import { AgentLink, type AgentResponseBody, type AgentRequestBody } from './agent-link.ts'
import { formatAgentHint, buildHostCommand } from './host-program.ts'

/** Connects to a host again after the connection was lost. */
export type Reconnect = (signal: AbortSignal) => Promise<Remote>

const agentStartTimeoutMs = 30_000
/** Long enough for a host to reboot. */
const reconnectTimeoutMs = 180_000
/** How often in a row the connection may be lost without progress. */
const maxLosses = 10

/** Session of one command with the agent of a host. It survives lost connections. */
export class Session {
  readonly host: string
  readonly #connect: Reconnect
  readonly #closed = new AbortController()
  readonly #signal: AbortSignal
  #remote: Remote | undefined
  /** Shared by all requests, also while it is being opened. */
  #link: Promise<AgentLink> | undefined
  #timeoutMs = agentStartTimeoutMs
  #following = 0

  constructor(host: string, remote: Remote, connect: Reconnect, signal: AbortSignal) {
    this.host = host
    this.#remote = remote
    this.#connect = connect
    this.#signal = AbortSignal.any([signal, this.#closed.signal])
  }

  /** The current connection; undefined while it is lost. */
  get remote(): Remote | undefined {
    return this.#remote
  }

  /**
   * True while a run is being followed: the agent handles no other request on this link until the run has
   * ended.
   */
  get following(): boolean {
    return this.#following > 0
  }

  /**
   * Sends a request, and sends it again if the connection is lost before the response. Agents handle repeated
   * requests idempotently.
   */
  async request<T extends AgentResponseBody['type']>(
    body: Exclude<AgentRequestBody, { type: 'attach' }>,
    expected: T,
  ): Promise<Extract<AgentResponseBody, { type: T }>> {
    return this.#withLink(async (link) => link.request(body, expected))
  }

  /** Follows a run to its end, across lost connections and agent restarts. */
  async follow(run: string, onEvent: (event: Event) => void): Promise<void> {
    let next = 1
    this.#following++
    try {
      await this.#withLink(async (link, progress) =>
        link.attach(run, next, (event) => {
          next = event.sequence + 1
          progress()
          onEvent(event)
        }),
      )
    } finally {
      this.#following--
    }
  }

  /** Aborts all pending requests. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the session is over'))
    await this.#remote?.close()
  }

  async #withLink<T>(use: (link: AgentLink, progress: () => void) => Promise<T>): Promise<T> {
    for (let lost = 0; ;) {
      const opening = (this.#link ??= this.#open())
      const link = await opening
      try {
        return await use(link, () => (lost = 0))
      } catch (error) {
        lost++
        if (!isConnectionLost(error) || lost > maxLosses) throw error
        // The first of several failed requests drops the link.
        if (this.#link !== opening) continue
        this.#link = undefined
        this.#dropConnection(error)
      }
    }
  }

  /** Waits, because the agent or its host may just be starting. */
  async #open(): Promise<AgentLink> {
    try {
      const opened = await pollUntil(
        `the agent of ${this.host} to answer`,
        async () => this.#tryOpenUnlessUninstalled(),
        {
          timeoutMs: this.#timeoutMs,
          intervalMs: 500,
          signal: this.#signal,
        },
      )
      if (opened instanceof HyperkubeError) throw opened
      this.#timeoutMs = reconnectTimeoutMs
      return opened
    } catch (error) {
      this.#link = undefined
      if (!(error instanceof HyperkubeError) || error.code !== 'TIMED_OUT') throw error
      const { message, cause } = error
      const hint = 'once it is back, run the same command again: it goes on where this one ended'
      throw new HyperkubeError('TIMED_OUT', message, { hint, cause })
    }
  }

  /** An agent that answered once and is now uninstalled will not return, so the error ends the retries. */
  async #tryOpenUnlessUninstalled(): Promise<AgentLink | HyperkubeError> {
    try {
      return await this.#tryOpen()
    } catch (error) {
      if (
        this.#timeoutMs === reconnectTimeoutMs &&
        error instanceof HyperkubeError &&
        error.code === 'AGENT_NOT_THERE'
      )
        return error
      throw error
    }
  }

  async #tryOpen(): Promise<AgentLink> {
    const options = { signal: this.#signal, root: true }
    this.#remote ??= await this.#connect(this.#signal)
    try {
      const argv = await buildHostCommand(this.#remote, ['agent-call'], this.#signal)
      const conversation = await this.#remote.open(argv, options)
      const link = new AgentLink(this.host, conversation, formatAgentHint(this.#remote))
      await link.request({ type: 'hello' }, 'hello')
      return link
    } catch (error) {
      this.#dropConnection(error)
      throw error
    }
  }

  /**
   * Keeps the connection if only the agent is gone. Any other error may be caused by the connection, so it is
   * closed.
   */
  #dropConnection(cause: unknown): void {
    if (hasCode(cause, 'AGENT_GONE') || hasCode(cause, 'AGENT_NOT_THERE')) return
    const remote = this.#remote
    this.#remote = undefined
    remote?.close().catch(() => undefined)
  }
}

/** True if the connection was lost; false if the agent refused the request. */
function isConnectionLost(error: unknown): boolean {
  return hasCode(error, 'SSH_LOST') || hasCode(error, 'AGENT_GONE')
}
