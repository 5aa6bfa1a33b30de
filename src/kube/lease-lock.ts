import { setTimeout as sleep } from 'node:timers/promises'
import type { Fence } from '../contract/fence.ts'
import {
  type Contender,
  decideLease,
  type Lease,
  type LeaseSpec,
  microTime,
  type Moment,
  type Observed,
} from './lease.ts'
import type { LeaseStore } from './lease-store.ts'

export type Holding =
  /** Ours until then, by the clock that only goes on, unless it is renewed. The fence stays the same with it, unless it is raised. */
  | { readonly held: true; readonly until: number; readonly fence: Fence }
  /** Somebody else's; who it is remains unknown when they were faster just now. */
  | {
      readonly held: false
      readonly holder: string | undefined
      /** Milliseconds until it is free, if its holder does nothing. */
      readonly left?: number
    }

export type Clock = () => Moment

const realClock: Clock = () => ({ wall: new Date(), monotonic: performance.now() })

/** Something that only one of many may have at a time. Whoever has it must renew it, and stop work when that fails. */
export class LeaseLock {
  readonly #store: LeaseStore
  #me: Contender
  readonly #clock: Clock
  #observed: Observed | undefined

  constructor(store: LeaseStore, me: Contender, clock: Clock = realClock) {
    this.#store = store
    this.#me = me
    this.#clock = clock
  }

  /** Takes the lease if it is free, and renews it if it is ours. */
  async tryHold(signal?: AbortSignal): Promise<Holding> {
    // Counted from before the request: when its answer comes, part of the time is over.
    const { monotonic: asked } = this.#clock()
    const observed = await this.#look(signal)
    const action = decideLease(observed, this.#me, this.#clock())
    if (action.kind === 'wait') return { held: false, holder: action.holder, left: action.left }
    if (!(await this.#write(observed.lease, action.spec, signal))) return { held: false, holder: undefined }
    const { holderIdentity: holder, leaseTransitions: transitions } = action.spec
    return { held: true, until: asked + this.#me.duration, fence: { holder, transitions } }
  }

  /** From the next time on, the number of what we hold is above this one. */
  raise(number: number): void {
    this.#me = { ...this.#me, floor: Math.max(this.#me.floor ?? 0, number + 1) }
  }

  /** Waits until it is ours, looking every so many milliseconds. */
  async acquire(every: number, signal: AbortSignal): Promise<Extract<Holding, { held: true }>> {
    for (;;) {
      const holding = await this.tryHold(signal)
      if (holding.held) return holding
      await sleep(every, undefined, { signal }).catch((error: unknown) => {
        signal.throwIfAborted()
        throw error
      })
    }
  }

  /** Gives it back, so that nobody has to wait for its end. Whether it was ours. */
  async release(signal?: AbortSignal): Promise<boolean> {
    for (;;) {
      const { lease } = await this.#look(signal)
      if (lease === undefined || lease.spec?.holderIdentity !== this.#me.identity) return false
      const time = microTime(this.#clock().wall)
      const free = {
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: time,
        renewTime: time,
        leaseTransitions: lease.spec.leaseTransitions ?? 0,
      }
      if (await this.#write(lease, free, signal)) return true
    }
  }

  async #look(signal: AbortSignal | undefined): Promise<Observed> {
    const lease = await this.#store.find(signal)
    const before = this.#observed
    const same = before !== undefined && versionOf(before.lease) === versionOf(lease)
    this.#observed = same ? before : this.#seen(lease)
    return this.#observed
  }

  /** Whether nobody was faster. */
  async #write(lease: Lease | undefined, spec: LeaseSpec, signal: AbortSignal | undefined): Promise<boolean> {
    const written = await this.#store.write(lease, spec, signal)
    if (written === undefined) return false
    this.#observed = this.#seen(written)
    return true
  }

  #seen(lease: Lease | undefined): Observed {
    const former = lease ?? this.#observed?.lease ?? this.#observed?.former
    return { lease, since: this.#clock().monotonic, former }
  }
}

function versionOf(lease: Lease | undefined): string | undefined {
  return lease?.metadata.resourceVersion
}
