import type { Event } from '../contract/event.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { until } from '../kit/poll-until.ts'
import type { Remote } from '../ssh/remote.ts'
import { AgentLink, type Answer, type Ask } from './agent-link.ts'
import { agentHint, ownCommand } from './host-program.ts'

/** How to reach a host anew, when the way to it was lost. */
export type Connect = (signal: AbortSignal) => Promise<Remote>

const agentStart = 30_000
/** A host that restarts is back by then. */
const patience = 180_000
/** How often in a row a way may be lost before anything was heard on it. */
const losses = 10

/** One host, as long as a command works with it. The way to it may be lost and found again. */
export class Session {
  readonly host: string
  readonly #connect: Connect
  readonly #closed = new AbortController()
  readonly #signal: AbortSignal
  #remote: Remote | undefined
  /** One for all who ask, also while it is being opened. */
  #link: Promise<AgentLink> | undefined
  #within = agentStart
  #following = 0

  constructor(host: string, remote: Remote, connect: Connect, signal: AbortSignal) {
    this.host = host
    this.#remote = remote
    this.#connect = connect
    this.#signal = AbortSignal.any([signal, this.#closed.signal])
  }

  /** The way to it; none while it is lost. */
  get remote(): Remote | undefined {
    return this.#remote
  }

  /** Whether a run of it is heard now; its agent answers nothing else until that has ended. */
  get following(): boolean {
    return this.#following > 0
  }

  /** Asked again when the way is lost before the answer: to an agent every question may be put twice. */
  async ask<T extends Answer['type']>(
    ask: Exclude<Ask, { type: 'attach' }>,
    expected: T,
  ): Promise<Extract<Answer, { type: T }>> {
    return this.#talk(async (link) => link.ask(ask, expected))
  }

  /** Hears a run to its end, over lost connections and over restarts of the agent. */
  async follow(run: string, heard: (event: Event) => void): Promise<void> {
    let next = 1
    this.#following++
    try {
      await this.#talk(async (link, progress) =>
        link.attach(run, next, (event) => {
          next = event.sequence + 1
          progress()
          heard(event)
        }),
      )
    } finally {
      this.#following--
    }
  }

  /** Ends whatever is still asked. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the session is over'))
    await this.#remote?.close()
  }

  async #talk<T>(say: (link: AgentLink, progress: () => void) => Promise<T>): Promise<T> {
    for (let lost = 0; ;) {
      const opening = (this.#link ??= this.#open())
      const link = await opening
      try {
        return await say(link, () => (lost = 0))
      } catch (error) {
        lost++
        if (!isLoss(error) || lost > losses) throw error
        // Of several who lose it the first one gives it up.
        if (this.#link !== opening) continue
        this.#link = undefined
        this.#partOver(error)
      }
    }
  }

  /** The agent may have been started a moment ago, or come with its host. */
  async #open(): Promise<AgentLink> {
    try {
      const called = await until(`the agent of ${this.host} to answer`, async () => this.#callOrMiss(), {
        within: this.#within,
        every: 500,
        signal: this.#signal,
      })
      if (called instanceof HyperkubeError) throw called
      this.#within = patience
      return called
    } catch (error) {
      this.#link = undefined
      if (!(error instanceof HyperkubeError) || error.code !== 'TIMED_OUT') throw error
      const { message, cause } = error
      const hint = 'once it is back, run the same command again: it goes on where this one ended'
      throw new HyperkubeError('TIMED_OUT', message, { hint, cause })
    }
  }

  /** One that has answered before, and of which the host has nothing any more, does not come back. */
  async #callOrMiss(): Promise<AgentLink | HyperkubeError> {
    try {
      return await this.#call()
    } catch (error) {
      if (this.#within === patience && error instanceof HyperkubeError && error.code === 'AGENT_NOT_THERE')
        return error
      throw error
    }
  }

  async #call(): Promise<AgentLink> {
    const options = { signal: this.#signal, root: true }
    this.#remote ??= await this.#connect(this.#signal)
    try {
      const argv = await ownCommand(this.#remote, ['agent-call'], this.#signal)
      const conversation = await this.#remote.open(argv, options)
      const link = new AgentLink(this.host, conversation, agentHint(this.#remote))
      await link.ask({ type: 'hello' }, 'hello')
      return link
    } catch (error) {
      this.#partOver(error)
      throw error
    }
  }

  /** The way to an agent that is gone is as it was; whatever else went wrong, the way may be the cause. */
  #partOver(cause: unknown): void {
    if (hasCode(cause, 'AGENT_GONE') || hasCode(cause, 'AGENT_NOT_THERE')) return
    const remote = this.#remote
    this.#remote = undefined
    remote?.close().catch(() => undefined)
  }
}

/** Whether the way was lost, and not what was asked refused. */
function isLoss(error: unknown): boolean {
  return hasCode(error, 'SSH_LOST') || hasCode(error, 'AGENT_GONE')
}
