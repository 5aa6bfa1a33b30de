import { canAct, type Fence } from '../../contract/host-resource.ts'
import { type MonotonicClock, sleepUnlessAborted } from '../../kit/monotonic-clock.ts'
import { FakeMonotonicClock } from '../../kit/testing/fake-monotonic-clock.ts'
import { type ElectionResult, type ElectionTiming, runElection } from '../election.ts'
import { LeaseLock } from '../lease-lock.ts'
import { type Lease, leases, type LeaseSpec, type LeaseStore } from '../lease.ts'

/** A period in simulated true time, in milliseconds. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

export interface SimulatedContender extends TimeSpan {
  readonly name: string
  /** Speed of the contender's clock relative to true time. */
  readonly rate: number
  /** Periods in which the process is paused while its clock continues. */
  readonly frozen: readonly TimeSpan[]
  /** Periods in which requests (`there`) or responses (`back`) are lost. */
  readonly cut: readonly (TimeSpan & { readonly way: 'there' | 'back' })[]
  /** Durations of the contender's requests, used in rotation. */
  readonly delays: readonly number[]
  /** `killed`: the process dies at `to`. `stopped`: the election gets the stop signal at `to`. */
  readonly end: 'killed' | 'stopped'
}

export interface LeaderAction {
  readonly at: number
  readonly fence: Fence
}

/** Result of a simulated election, in true time. */
export interface ElectionTrace {
  /** Actions that leaders sent. */
  readonly actions: readonly LeaderAction[]
  /** Actions that a host accepted. */
  readonly accepted: readonly LeaderAction[]
  readonly endings: ReadonlyMap<string, { readonly at: number; readonly ending: ElectionResult }>
}

/** The Lease object in the fake API. */
class TestLease {
  #lease: Lease | undefined
  #version = 0

  get(): Lease | undefined {
    return this.#lease
  }

  put(found: Lease | undefined, spec: LeaseSpec): Lease | undefined {
    if (found?.metadata.resourceVersion !== this.#lease?.metadata.resourceVersion) return undefined
    const { apiVersion, kind } = leases
    const metadata = { name: 'l', namespace: 'n', resourceVersion: String(++this.#version) }
    this.#lease = { apiVersion, kind, metadata, spec: { ...spec } }
    return this.#lease
  }

  remove(): void {
    this.#lease = undefined
  }
}

/** Runs an election of several contenders in simulated time. Each leader sends an action every 500 ms. */
export async function simulateElection(
  contenders: readonly SimulatedContender[],
  timing: ElectionTiming,
  { length, removals = [] }: { readonly length: number; readonly removals?: readonly number[] },
): Promise<ElectionTrace> {
  const time = new FakeMonotonicClock(1)
  const lease = new TestLease()
  const actions: LeaderAction[] = []
  const accepted: LeaderAction[] = []
  const endings = new Map<string, { at: number; ending: ElectionResult }>()
  const ended = new AbortController()
  for (const at of removals) time.after(at, () => lease.remove())
  for (const contender of contenders) {
    time.after(contender.from, () => {
      const own = createTime(time, contender)
      const lock = new LeaseLock(
        createStore(time, own, contender, lease),
        { identity: contender.name, duration: timing.duration },
        // Wall clocks are arbitrary, because the election must not depend on them.
        () => ({ wall: new Date(contender.rate * 1e12), monotonic: own.now() }),
      )
      const stop = new AbortController()
      if (contender.end === 'stopped')
        own.after((contender.to - contender.from) * contender.rate, () => stop.abort())
      void runElection(
        lock,
        { timing, time: own, random: () => contender.rate / 2 },
        async (term) => {
          while (!term.signal.aborted) {
            const action = { at: time.now(), fence: term.fence() }
            const highest = accepted.at(-1)?.fence
            actions.push(action)
            if (canAct(action.fence, highest)) accepted.push(action)
            else if (highest !== undefined) term.raise(highest)
            await sleepUnlessAborted(own, 500, term.signal)
          }
        },
        AbortSignal.any([stop.signal, ended.signal]),
      ).then((ending) => endings.set(contender.name, { at: time.now(), ending }))
    })
  }
  await time.advance(length)
  ended.abort()
  return { actions, accepted, endings }
}

/**
 * Creates the clock of one contender. Timers that expire while the contender is frozen fire afterwards.
 * Timers of a killed contender never fire.
 */
function createTime(time: FakeMonotonicClock, { rate, frozen, to, end }: SimulatedContender): MonotonicClock {
  const deliver = (run: () => void): void => {
    if (end === 'killed' && time.now() >= to) return
    const frozenSpan = frozen.find((span) => span.from <= time.now() && time.now() < span.to)
    if (frozenSpan === undefined) run()
    else time.after(frozenSpan.to - time.now(), () => deliver(run))
  }
  return {
    now: () => 1e6 + time.now() * rate,
    after: (milliseconds, run) => time.after(milliseconds / rate, () => deliver(run)),
  }
}

function createStore(
  time: FakeMonotonicClock,
  own: MonotonicClock,
  { cut, delays, rate }: SimulatedContender,
  lease: TestLease,
): LeaseStore {
  let count = 0
  const send = async <T>(run: () => T, signal: AbortSignal | undefined): Promise<T> => {
    const delay = delays[count++ % delays.length] ?? 0
    const isCut = (way: 'there' | 'back'): boolean =>
      cut.some((span) => span.way === way && span.from <= time.now() && time.now() < span.to)
    return new Promise<T>((resolve, reject) => {
      // A simulated request fails on abort or after a timeout, like a real request.
      const fail = (): void => reject(new Error('no answer'))
      signal?.addEventListener('abort', fail, { once: true })
      own.after(5000, fail)
      // From here on the request is on its way to the API, even if the contender freezes.
      if (isCut('there')) return
      time.after(delay, () => {
        const response = run()
        if (!isCut('back')) own.after(delay * rate, () => resolve(response))
      })
    })
  }
  return {
    find: async (signal) => send(() => lease.get(), signal),
    write: async (found, spec, signal) => send(() => lease.put(found, spec), signal),
  }
}
