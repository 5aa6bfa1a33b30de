import type { Event } from '../contract/event.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { until } from '../kit/until.ts'
import { ownProgram } from '../plan/linux/paths.ts'
import type { Remote } from '../ssh/remote.ts'
import { AgentLink, type Answer, type Ask } from './agent-link.ts'

/** How to reach a host anew, when the way to it was lost. */
export type Connect = (signal: AbortSignal) => Promise<Remote>

const agentStart = 30_000
/** A host that restarts is back by then. */
const patience = 180_000

/** One host, as long as a command works with it. The way to it may be lost and found again. */
export class Session {
  readonly host: string
  readonly #connect: Connect
  readonly #signal: AbortSignal
  #remote: Remote
  #link: AgentLink | undefined
  #following = 0

  constructor(host: string, remote: Remote, connect: Connect, signal: AbortSignal) {
    this.host = host
    this.#remote = remote
    this.#connect = connect
    this.#signal = signal
  }

  get remote(): Remote {
    return this.#remote
  }

  /** Whether a run of it is heard now; its agent answers nothing else until that has ended. */
  get following(): boolean {
    return this.#following > 0
  }

  async ask<T extends Answer['type']>(
    ask: Exclude<Ask, { type: 'attach' }>,
    expected: T,
  ): Promise<Extract<Answer, { type: T }>> {
    return (await this.#agent()).ask(ask, expected)
  }

  /** Hears a run to its end, over lost connections and over restarts of the agent. */
  async follow(run: string, heard: (event: Event) => void): Promise<void> {
    let next = 1
    const since = Date.now()
    this.#following++
    try {
      for (;;) {
        try {
          const link = await this.#agent()
          await link.attach(run, next, (event) => {
            next = event.sequence + 1
            heard(event)
          })
          return
        } catch (error) {
          if (!isLoss(error) || Date.now() - since > patience) throw error
          await this.#reconnect()
        }
      }
    } finally {
      this.#following--
    }
  }

  async close(): Promise<void> {
    this.#link?.close()
    await this.#remote.close()
  }

  /** The agent may have been started a moment ago. */
  async #agent(): Promise<AgentLink> {
    this.#link ??= await until(
      `the agent of ${this.host}`,
      async () => {
        const conversation = await this.#remote.open([ownProgram, 'agent-call'], {
          signal: this.#signal,
          root: true,
        })
        const link = new AgentLink(this.host, conversation)
        await link.ask({ type: 'hello' }, 'hello')
        return link
      },
      { within: agentStart, every: 200, signal: this.#signal },
    )
    return this.#link
  }

  async #reconnect(): Promise<void> {
    this.#link?.close()
    this.#link = undefined
    await this.#remote.close().catch(() => undefined)
    this.#remote = await until(`${this.host} to answer again`, async () => this.#connect(this.#signal), {
      within: patience,
      every: 1000,
      signal: this.#signal,
    })
  }
}

/** Whether the way was lost, and not the run. */
function isLoss(error: unknown): boolean {
  return (
    error instanceof HyperkubeError &&
    ['SSH_LOST', 'AGENT_GONE', 'SSH_UNREACHABLE', 'TIMED_OUT'].includes(error.code)
  )
}
