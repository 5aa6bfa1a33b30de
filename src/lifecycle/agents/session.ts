import type { Event } from '../../contract/event.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { pollUntil } from '../../kit/poll.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { AgentLink, AgentResponseBody, AgentRequestBody } from './agent-link.ts'
import { openAgentLink } from './open-agent-link.ts'

/** Connects to a host again after the connection was lost. */
export type Reconnect = (signal: AbortSignal) => Promise<Remote>

const agentStartTimeoutMs = 30_000
/** Milliseconds to wait for an agent that has answered before. Long enough for a host to reboot. */
const reconnectTimeoutMs = 180_000
/** How often in a row the connection may be lost without progress before a request fails. */
const maxLosses = 10

/** Session of one command with the agent of a host. It reconnects after a lost connection. */
export class Session {
  readonly host: string
  readonly #connect: Reconnect
  readonly #closed = new AbortController()
  readonly #signal: AbortSignal
  #remote: Remote | undefined
  /** Link that all requests share, even while it is being opened. */
  #link: Promise<AgentLink> | undefined
  #timeoutMs = agentStartTimeoutMs
  #following = 0

  /** `link` is a connection to the agent that is already open. */
  constructor(host: string, remote: Remote, connect: Reconnect, signal: AbortSignal, link?: AgentLink) {
    this.host = host
    this.#remote = remote
    this.#connect = connect
    this.#signal = AbortSignal.any([signal, this.#closed.signal])
    if (link === undefined) return
    this.#link = Promise.resolve(link)
    this.#timeoutMs = reconnectTimeoutMs
  }

  /** The current ssh connection; undefined while it is lost. */
  get remote(): Remote | undefined {
    return this.#remote
  }

  /**
   * True while the session follows a run. Until the run has ended, the agent handles no other request of this
   * session.
   */
  get following(): boolean {
    return this.#following > 0
  }

  /**
   * Sends a request. If the connection is lost before the response, the request is sent again, because agents
   * handle repeated requests idempotently.
   */
  async request<T extends AgentResponseBody['type']>(
    body: Exclude<AgentRequestBody, { type: 'attach' }>,
    expected: T,
  ): Promise<Extract<AgentResponseBody, { type: T }>> {
    return this.#withLink(async (link) => link.request(body, expected))
  }

  /** Follows a run to its end. Continues after lost connections and agent restarts. */
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

  /** Closes the connection and aborts all pending requests. */
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
        // Several requests may fail on the same link. Only the first failed request drops the link.
        if (this.#link !== opening) continue
        this.#link = undefined
        this.#dropConnection(error)
      }
    }
  }

  /** Opens a link. Retries until a timeout, because the agent or its host may be starting. */
  async #open(): Promise<AgentLink> {
    try {
      const opened = await pollUntil(
        `the agent of ${this.host} to respond`,
        async () => this.#tryOpenUnlessFinal(),
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
      const hint = 'find the cause: hyperkube doctor; then run the same command again to resume'
      throw new HyperkubeError('TIMED_OUT', message, { hint, cause })
    }
  }

  /** Tries once to open a link. If no further try can succeed, returns the error, which ends the retries. */
  async #tryOpenUnlessFinal(): Promise<AgentLink | HyperkubeError> {
    try {
      return await this.#tryOpen()
    } catch (error) {
      if (error instanceof HyperkubeError && this.#isFinal(error)) return error
      throw error
    }
  }

  /** True if an agent that has answered before is now uninstalled, or if the host floods its connection. */
  #isFinal({ code }: HyperkubeError): boolean {
    const isUninstalled = this.#timeoutMs === reconnectTimeoutMs && code === 'AGENT_NOT_THERE'
    return isUninstalled || code === 'SSH_OUTPUT_TOO_LONG'
  }

  async #tryOpen(): Promise<AgentLink> {
    this.#remote ??= await this.#connect(this.#signal)
    try {
      const link = await openAgentLink(this.#remote, this.#signal)
      await link.request({ type: 'hello' }, 'hello')
      return link
    } catch (error) {
      this.#dropConnection(error)
      throw error
    }
  }

  /**
   * Closes the ssh connection, because it may have caused the error. If only the agent has stopped or is not
   * installed, the connection stays open.
   */
  #dropConnection(cause: unknown): void {
    if (hasCode(cause, 'AGENT_GONE') || hasCode(cause, 'AGENT_NOT_THERE')) return
    const remote = this.#remote
    this.#remote = undefined
    remote?.close().catch(() => undefined)
  }
}

/** True if the connection was lost. Other errors come from the agent itself. */
function isConnectionLost(error: unknown): boolean {
  return hasCode(error, 'SSH_LOST') || hasCode(error, 'AGENT_GONE')
}
