import { type Fence, mayAct } from '../../contract/fence.ts'
import { TestTime } from '../../kit/testing/fake-monotonic-clock.ts'
import { pause, type Time } from '../../kit/monotonic-clock.ts'
import { type Ending, type ElectionTiming, lead } from '../election.ts'
import { type Lease, leases, type LeaseSpec } from '../lease.ts'
import { LeaseLock } from '../lease-lock.ts'
import type { LeaseStore } from '../lease-store.ts'

/** From when until when, in true time. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface Life extends Span {
  readonly name: string
  /** How much faster its clock goes than time. */
  readonly rate: number
  /** Nothing in it happens meanwhile, but its clock goes on. */
  readonly frozen: readonly Span[]
  /** What it asks does not come through, or the answer does not. */
  readonly cut: readonly (Span & { readonly way: 'there' | 'back' })[]
  /** How long each of its requests takes, in turn. */
  readonly delays: readonly number[]
  /** Killed at the end of its life, or asked to stop. */
  readonly end: 'killed' | 'stopped'
}

export interface Deed {
  readonly at: number
  readonly fence: Fence
}

/** What became of an election, by true time. */
export interface Course {
  /** What leaders sent out. */
  readonly deeds: readonly Deed[]
  /** What a host did of it. */
  readonly done: readonly Deed[]
  readonly endings: ReadonlyMap<string, { readonly at: number; readonly ending: Ending }>
}

/** The API's one lease. */
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

/** Lives of contenders over one lease, in a time of their own. Each leader sends something out every half a second. */
export async function course(
  lives: readonly Life[],
  timing: ElectionTiming,
  { length, removals = [] }: { readonly length: number; readonly removals?: readonly number[] },
): Promise<Course> {
  const time = new TestTime(1)
  const lease = new TestLease()
  const deeds: Deed[] = []
  const done: Deed[] = []
  const endings = new Map<string, { at: number; ending: Ending }>()
  const dead = new AbortController()
  for (const at of removals) time.after(at, () => lease.remove())
  for (const life of lives) {
    time.after(life.from, () => {
      const own = timeOf(time, life)
      const lock = new LeaseLock(
        storeOf(time, own, life, lease),
        { identity: life.name, duration: timing.duration },
        // Clocks on walls say anything.
        () => ({ wall: new Date(life.rate * 1e12), monotonic: own.now() }),
      )
      const stop = new AbortController()
      if (life.end === 'stopped') own.after((life.to - life.from) * life.rate, () => stop.abort())
      void lead(
        lock,
        { timing, time: own, random: () => life.rate / 2 },
        async (term) => {
          while (!term.signal.aborted) {
            const deed = { at: time.now(), fence: term.fence() }
            const highest = done.at(-1)?.fence
            deeds.push(deed)
            if (mayAct(deed.fence, highest)) done.push(deed)
            else if (highest !== undefined) term.raise(highest)
            await pause(own, 500, term.signal)
          }
        },
        AbortSignal.any([stop.signal, dead.signal]),
      ).then((ending) => endings.set(life.name, { at: time.now(), ending }))
    })
  }
  await time.goOn(length)
  dead.abort()
  return { deeds, done, endings }
}

/** Time as one of them has it. What comes while it is frozen comes afterwards, and after its death nothing comes. */
function timeOf(time: TestTime, { rate, frozen, to, end }: Life): Time {
  const deliver = (act: () => void): void => {
    if (end === 'killed' && time.now() >= to) return
    const asleep = frozen.find((span) => span.from <= time.now() && time.now() < span.to)
    if (asleep === undefined) act()
    else time.after(asleep.to - time.now(), () => deliver(act))
  }
  return {
    now: () => 1e6 + time.now() * rate,
    after: (milliseconds, act) => time.after(milliseconds / rate, () => deliver(act)),
  }
}

function storeOf(time: TestTime, own: Time, { cut, delays, rate }: Life, lease: TestLease): LeaseStore {
  let count = 0
  const ask = async <T>(act: () => T, signal: AbortSignal | undefined): Promise<T> => {
    const delay = delays[count++ % delays.length] ?? 0
    const isCut = (way: 'there' | 'back'): boolean =>
      cut.some((span) => span.way === way && span.from <= time.now() && time.now() < span.to)
    return new Promise<T>((resolve, reject) => {
      // As a real request: it ends when nobody wants it any more, or after a while.
      const fail = (): void => reject(new Error('no answer'))
      signal?.addEventListener('abort', fail, { once: true })
      own.after(5000, fail)
      // On the way to the API, nobody here can hold it up any more.
      if (isCut('there')) return
      time.after(delay, () => {
        const answer = act()
        if (!isCut('back')) own.after(delay * rate, () => resolve(answer))
      })
    })
  }
  return {
    find: async (signal) => ask(() => lease.get(), signal),
    write: async (found, spec, signal) => ask(() => lease.put(found, spec), signal),
  }
}
