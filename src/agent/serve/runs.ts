import { setMaxListeners } from 'node:events'
import type { Event } from '../../contract/event.ts'
import { describe, HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { RunLog } from './run-log.ts'

export type Told = Event['what']
/** Tells of a run. The component it is about, if any, is said beside. */
export type Emit = (what: Told, component?: string) => void
export type Work = (emit: Emit, signal: AbortSignal) => Promise<void>

interface ActiveRun {
  readonly events: Event[]
  ended: boolean
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
    await this.#log.prepare()
    const active: ActiveRun = { events: [], ended: false, news: Promise.withResolvers() }
    this.#active.set(run, active)
    let told: Promise<void> = Promise.resolve()
    const emit: Emit = (what, component) => {
      const event = this.#event(run, active.events.length + 1, what, component)
      active.events.push(event)
      told = told.then(async () => this.#log.append(event))
      active.news.resolve()
      active.news = Promise.withResolvers()
    }
    emit({ type: 'run-started', command })
    const before = this.#last
    const perform = async (): Promise<void> => {
      await before
      const result = await outcomeOf(work(emit, this.#stopping.signal), this.#stopping.signal)
      active.ended = true
      emit({ type: 'run-ended', result })
      await told
      this.#active.delete(run)
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
    signal.addEventListener('abort', () => gone.resolve(), { once: true })
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
  }

  /** Whether something runs, or waits for its turn. */
  get busy(): boolean {
    return this.#active.size > 0
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
    const cut = events.at(-1)?.what.type !== 'run-ended'
    const end = this.#event(run, events.length + 1, { type: 'run-ended', result: { outcome: 'interrupted' } })
    return [...events, ...(cut ? [end] : [])].slice(from - 1)
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

async function outcomeOf(work: Promise<void>, signal: AbortSignal): Promise<Outcome> {
  try {
    await work
    return { outcome: 'done' }
  } catch (error) {
    if (signal.aborted) return { outcome: 'interrupted' }
    return { outcome: 'failed', failure: failureOf(error) }
  }
}

export function failureOf(error: unknown): { code: string; message: string; hint?: string } {
  const known = error instanceof HyperkubeError ? error : undefined
  return {
    code: known?.code ?? 'UNEXPECTED',
    message: printable(describe(error)),
    ...(known?.hint === undefined ? {} : { hint: known.hint }),
  }
}
