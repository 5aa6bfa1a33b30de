import { setMaxListeners } from 'node:events'
import type { Event } from '../../contract/event.ts'
import { describe, HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { runError } from '../apply/op-error.ts'
import type { RunLog } from './run-event-log.ts'

export type Told = Event['what']
/** Tells of a run. The component it is about, if any, is said beside. */
export type Emit = (what: Told, component?: string) => void
/** What is still to be done when all has been told: it ends the agent, so nothing comes after it. */
export type Farewell = () => Promise<void>
export type Work = (emit: Emit, signal: AbortSignal) => Promise<Farewell | void>

interface ActiveRun {
  readonly events: Event[]
  /** Whether nothing more is told of it. */
  ended: boolean
  /** Whether all of that is written down, too. */
  over: boolean
  /** Resolved and replaced whenever there is something new. */
  news: PromiseWithResolvers<void>
}

/**
 * What the agent does, one run after the other. A run belongs to the agent and not to whoever asked for it: it goes on
 * when they are gone, and they can read on when they are back.
 */
export class Runs {
  readonly #log: RunLog
  readonly #host: string
  readonly #now: () => Date
  readonly #active = new Map<string, ActiveRun>()
  readonly #stopping = new AbortController()
  #last: Promise<void> = Promise.resolve()

  constructor(host: string, log: RunLog, now: () => Date) {
    this.#host = host
    this.#log = log
    this.#now = now
    setMaxListeners(0, this.#stopping.signal)
  }

  /** Known to `attach` at once; done when those before it are. The same run is never begun twice. */
  async start(run: string, command: string, work: Work): Promise<void> {
    if (this.#active.has(run) || (await this.#log.read(run)) !== undefined) return
    if (this.#stopping.signal.aborted) throw this.#leaving()
    await this.#log.prepare()
    // The last one is kept in mind: whoever comes late for a reset, which takes the log along, hears of it all the same.
    for (const [id, { over }] of this.#active) if (over) this.#active.delete(id)
    const active: ActiveRun = { events: [], ended: false, over: false, news: Promise.withResolvers() }
    this.#active.set(run, active)
    let told: Promise<void> = Promise.resolve()
    const emit: Emit = (what, component) => {
      const event = this.#event(run, active.events.length + 1, what, component)
      active.events.push(event)
      // Whoever listens hears it all the same: neither a full disk nor a log that a reset took away ends the agent.
      told = told.then(async () => this.#log.append(event)).catch(() => undefined)
      active.news.resolve()
      active.news = Promise.withResolvers()
    }
    emit({ type: 'run-started', command })
    const before = this.#last
    const perform = async (): Promise<void> => {
      await before
      const { result, farewell } = await outcomeOf(work, emit, this.#stopping.signal)
      if (farewell !== undefined) this.#stopping.abort()
      active.ended = true
      emit({ type: 'run-ended', result })
      await told
      active.over = true
      // Whoever ends us may be ended with us, before they could say that it is done.
      await farewell?.().catch(() => undefined)
    }
    this.#last = perform()
  }

  /** The events of a run from one on, until it has ended. */
  async *attach(run: string, from: number, signal: AbortSignal): AsyncGenerator<Event> {
    const active = this.#active.get(run)
    if (active === undefined) {
      yield* await this.#past(run, from)
      return
    }
    const gone = Promise.withResolvers<void>()
    const leave = (): void => gone.resolve()
    signal.addEventListener('abort', leave, { once: true })
    try {
      for (let next = from; !signal.aborted;) {
        const event = active.events[next - 1]
        if (event !== undefined) {
          yield event
          next++
        } else if (active.ended) {
          return
        } else {
          await Promise.race([active.news.promise, gone.promise])
        }
      }
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Whether something runs, or waits for its turn. */
  get busy(): boolean {
    return [...this.#active.values()].some(({ over }) => !over)
  }

  /** Ends what runs at its next safe point, and waits for it. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#last
  }

  /** Of a run that is over. One whose end nobody saw was cut short with the agent. */
  async #past(run: string, from: number): Promise<readonly Event[]> {
    const events = await this.#log.read(run)
    if (events === undefined) {
      throw new HyperkubeError('AGENT_NO_SUCH_RUN', 'this host knows nothing of the run', {
        host: this.#host,
      })
    }
    const last = events.at(-1)
    const cut = last?.what.type !== 'run-ended'
    // Whoever listened may have heard more than was written down, and shall hear of the end all the same.
    const next = Math.max(from, (last?.sequence ?? 0) + 1)
    const end = this.#event(run, next, { type: 'run-ended', result: { outcome: 'interrupted' } })
    return [...events, ...(cut ? [end] : [])].filter(({ sequence }) => sequence >= from)
  }

  #leaving(): HyperkubeError {
    return new HyperkubeError('AGENT_STOPPING', 'its agent is about to end', {
      host: this.#host,
      hint: 'run the same command again',
    })
  }

  #event(run: string, sequence: number, what: Told, component?: string): Event {
    return {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Event',
      run,
      sequence,
      time: this.#now().toISOString(),
      host: this.#host,
      ...(component === undefined ? {} : { component }),
      what,
    }
  }
}

type Outcome = Extract<Told, { type: 'run-ended' }>['result']

interface Ended {
  readonly result: Outcome
  readonly farewell?: Farewell | undefined
}

async function outcomeOf(work: Work, emit: Emit, signal: AbortSignal): Promise<Ended> {
  try {
    // One that waited for its turn is not even begun.
    signal.throwIfAborted()
    const farewell = await work(emit, signal)
    return { result: { outcome: 'done' }, farewell: farewell ?? undefined }
  } catch (error) {
    if (signal.aborted) return { result: { outcome: 'interrupted' } }
    return { result: { outcome: 'failed', failure: failureOf(error) } }
  }
}

export function failureOf(thrown: unknown): { code: string; message: string; hint?: string } {
  const error = runError(thrown)
  const known = error instanceof HyperkubeError ? error : undefined
  return {
    code: known?.code ?? 'UNEXPECTED',
    message: printable(describe(error)),
    ...(known?.hint === undefined ? {} : { hint: known.hint }),
  }
}
