import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Event } from '../../contract/event.ts'
import { createMutex } from '../../kit/concurrency.ts'
import { HyperkubeError, toFailure } from '../../kit/errors.ts'
import { type EmitRunEvent, type RunEventBody, toRunError } from '../records/run-op.ts'
import type { RunEventLog } from './run-event-log.ts'

/** Stops the agent. It is called last, after all events of a run were emitted. */
export type ExitHook = () => Promise<void>
export type RunWork = (emit: EmitRunEvent, signal: AbortSignal) => Promise<ExitHook | void>

interface ActiveRun {
  readonly events: Event[]
  /** True if no more events follow. */
  ended: boolean
  /** True if all events are on disk. */
  written: boolean
  /** Resolved and replaced whenever an event is added. */
  nextEvent: PromiseWithResolvers<void>
}

/**
 * Executes the runs of an agent one after the other. A run continues if its client disconnects, and the
 * client can attach to the run again.
 */
export class Runs {
  readonly #log: RunEventLog
  readonly #host: string
  readonly #now: () => Date
  readonly #active = new Map<string, ActiveRun>()
  readonly #stopping = new AbortController()
  readonly #startExclusively = createMutex()
  #last: Promise<void> = Promise.resolve()

  constructor(host: string, log: RunEventLog, now: () => Date) {
    this.#host = host
    this.#log = log
    this.#now = now
    setMaxListeners(0, this.#stopping.signal)
  }

  /**
   * Queues a run; `attach` can be called immediately. A known run id is not started again, even if a client
   * repeats its request before the first one is handled.
   */
  async start(run: string, command: string, work: RunWork): Promise<void> {
    await this.#startExclusively(async () => this.#start(run, command, work))
  }

  async #start(run: string, command: string, work: RunWork): Promise<void> {
    if (this.#active.has(run) || (await this.#log.read(run)) !== undefined) return
    if (this.#stopping.signal.aborted) throw this.#stoppingError()
    // A run, for example one of healing, must also start while the file system is read-only.
    await this.#log.prepare().catch(() => undefined)
    // The last run stays in memory until the next run starts. A reset deletes the log on disk, but a client
    // that attaches after the reset must still get its events.
    for (const [id, { written }] of this.#active) if (written) this.#active.delete(id)
    const active: ActiveRun = { events: [], ended: false, written: false, nextEvent: Promise.withResolvers() }
    this.#active.set(run, active)
    let logged: Promise<void> = Promise.resolve()
    const emit: EmitRunEvent = (what, component) => {
      const event = this.#event(run, active.events.length + 1, what, component)
      active.events.push(event)
      // Attached clients get the event even if it cannot be written, for example because the disk is full or
      // a reset has deleted the log.
      logged = logged.then(async () => this.#log.append(event)).catch(() => undefined)
      active.nextEvent.resolve()
      active.nextEvent = Promise.withResolvers()
    }
    emit({ type: 'run-started', command })
    const before = this.#last
    const execute = async (): Promise<void> => {
      await before
      const { result, exitHook } = await runToEnd(work, emit, this.#stopping.signal)
      if (exitHook !== undefined) this.#stopping.abort()
      active.ended = true
      emit({ type: 'run-ended', result })
      await logged
      active.written = true
      // The exit hook stops this agent, and the stop may also end the hook with an error. Errors of the hook
      // are therefore ignored.
      await exitHook?.().catch(() => undefined)
    }
    this.#last = execute()
  }

  /** Yields the events of a run from a sequence number on, until the run has ended. */
  async *attach(run: string, from: number, signal: AbortSignal): AsyncGenerator<Event> {
    const active = this.#active.get(run)
    if (active === undefined) {
      yield* await this.#readPast(run, from)
      return
    }
    const aborted = Promise.withResolvers<void>()
    const onAbort = (): void => aborted.resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      for (let next = from; !signal.aborted;) {
        const event = active.events[next - 1]
        if (event !== undefined) {
          yield event
          next++
        } else if (active.ended) {
          return
        } else {
          await Promise.race([active.nextEvent.promise, aborted.promise])
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** True if a run is active or queued. */
  get busy(): boolean {
    return [...this.#active.values()].some(({ written }) => !written)
  }

  /** Interrupts the active run at its next safe point and waits until it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#last
  }

  /**
   * Returns the events of a run that is no longer in memory. A run without an end event was interrupted
   * together with the agent.
   */
  async #readPast(run: string, from: number): Promise<readonly Event[]> {
    const events = await this.#log.read(run)
    if (events === undefined) {
      throw new HyperkubeError('AGENT_NO_SUCH_RUN', 'this host has no record of the run', {
        host: this.#host,
      })
    }
    const last = events.at(-1)
    const isInterrupted = last?.body.type !== 'run-ended'
    // A client may have received more events than were written to disk, so the end event needs a higher
    // number.
    const next = Math.max(from, (last?.sequence ?? 0) + 1)
    const end = this.#event(run, next, { type: 'run-ended', result: { outcome: 'interrupted' } })
    return [...events, ...(isInterrupted ? [end] : [])].filter(({ sequence }) => sequence >= from)
  }

  #stoppingError(): HyperkubeError {
    return new HyperkubeError('AGENT_STOPPING', 'the agent is stopping', {
      host: this.#host,
      hint: 'run the same command again',
    })
  }

  #event(run: string, sequence: number, what: RunEventBody, component?: string): Event {
    return {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Event',
      run,
      sequence,
      time: this.#now().toISOString(),
      host: this.#host,
      ...(component === undefined ? {} : { component }),
      body: what,
    }
  }
}

type RunResult = Extract<RunEventBody, { type: 'run-ended' }>['result']

interface RunEnd {
  readonly result: RunResult
  readonly exitHook?: ExitHook | undefined
}

async function runToEnd(work: RunWork, emit: EmitRunEvent, signal: AbortSignal): Promise<RunEnd> {
  try {
    // A queued run is not started after an abort.
    signal.throwIfAborted()
    const exitHook = await work(emit, signal)
    return { result: { outcome: 'done' }, exitHook: exitHook ?? undefined }
  } catch (error) {
    if (signal.aborted) return { result: { outcome: 'interrupted' } }
    return { result: { outcome: 'failed', failure: toRunFailure(error) } }
  }
}

export function toRunFailure(thrown: unknown): { code: string; message: string; hint?: string } {
  return toFailure(toRunError(thrown))
}

export type OwnRunWork = (run: string, emit: EmitRunEvent, stop: AbortSignal) => Promise<void>

/**
 * Executes work that the agent starts by itself as a regular run, so that runs of operators are queued after
 * it. Returns the error of a failed run; an interrupted run counts as not failed.
 */
export async function startOwnRun(
  runs: Runs,
  command: string,
  work: OwnRunWork,
  signal: AbortSignal,
): Promise<HyperkubeError | undefined> {
  const run = randomUUID()
  await runs.start(run, command, async (emit, stop) => work(run, emit, stop))
  for await (const { body } of runs.attach(run, 1, signal)) {
    if (body.type !== 'run-ended' || body.result.outcome !== 'failed') continue
    const { code, message, hint } = body.result.failure
    return new HyperkubeError(code, message, hint === undefined ? {} : { hint })
  }
  return undefined
}
