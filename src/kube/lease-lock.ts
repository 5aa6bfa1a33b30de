import type { Fence } from '../contract/host-resource.ts'
import { sleepOrAbort } from '../kit/poll.ts'
import {
  type Contender,
  decideLease,
  formatMicroTime,
  type Lease,
  type LeaseObservation,
  type LeaseSpec,
  type LeaseStore,
  type LeaseTime,
} from './lease.ts'

export type LeaseHold =
  /**
   * This contender holds the lease until `until` (monotonic clock), or longer if it renews the lease. The
   * fence stays the same until `raise` is called.
   */
  | { readonly held: true; readonly until: number; readonly fence: Fence }
  /**
   * Another contender holds the lease. `holder` is undefined if this contender could not write the lease,
   * because another contender wrote it first.
   */
  | {
      readonly held: false
      readonly holder: string | undefined
      /** Milliseconds until the lease expires if it is not renewed. */
      readonly left?: number
    }

export type LeaseClock = () => LeaseTime

const realClock: LeaseClock = () => ({ wall: new Date(), monotonic: performance.now() })

/** A lock based on a Lease object. The holder must renew it, and must stop its work when renewal fails. */
export class LeaseLock {
  readonly #store: LeaseStore
  #me: Contender
  readonly #clock: LeaseClock
  #observed: LeaseObservation | undefined

  constructor(store: LeaseStore, me: Contender, clock: LeaseClock = realClock) {
    this.#store = store
    this.#me = me
    this.#clock = clock
  }

  /** Acquires the lease if it is free, and renews it if this contender holds it. */
  async tryAcquire(signal?: AbortSignal): Promise<LeaseHold> {
    // Time is counted from before the request, because part of the lease has passed when the response
    // arrives.
    const { monotonic: requestedAt } = this.#clock()
    const observed = await this.#observe(signal)
    const action = decideLease(observed, this.#me, this.#clock())
    if (action.kind === 'wait') return { held: false, holder: action.holder, left: action.left }
    if (!(await this.#write(observed.lease, action.spec, signal))) return { held: false, holder: undefined }
    const { holderIdentity: holder, leaseTransitions: transitions } = action.spec
    return { held: true, until: requestedAt + this.#me.duration, fence: { holder, transitions } }
  }

  /** Makes sure that the next renewal writes a leaseTransitions value above `number`. */
  raise(number: number): void {
    this.#me = { ...this.#me, minTransitions: Math.max(this.#me.minTransitions ?? 0, number + 1) }
  }

  /** Polls until this contender holds the lease. */
  async acquire(intervalMs: number, signal: AbortSignal): Promise<Extract<LeaseHold, { held: true }>> {
    for (;;) {
      const hold = await this.tryAcquire(signal)
      if (hold.held) return hold
      await sleepOrAbort(intervalMs, signal)
    }
  }

  /**
   * Releases the lease, so others need not wait until it expires. Returns false if this contender did not
   * hold it.
   */
  async release(signal?: AbortSignal): Promise<boolean> {
    for (;;) {
      const { lease } = await this.#observe(signal)
      if (lease === undefined || lease.spec?.holderIdentity !== this.#me.identity) return false
      const time = formatMicroTime(this.#clock().wall)
      const released = {
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: time,
        renewTime: time,
        leaseTransitions: lease.spec.leaseTransitions ?? 0,
      }
      if (await this.#write(lease, released, signal)) return true
    }
  }

  async #observe(signal: AbortSignal | undefined): Promise<LeaseObservation> {
    const lease = await this.#store.find(signal)
    const before = this.#observed
    const same = before !== undefined && readVersion(before.lease) === readVersion(lease)
    this.#observed = same ? before : this.#toObservation(lease)
    return this.#observed
  }

  /** Writes the lease. Returns false if another contender wrote first. */
  async #write(lease: Lease | undefined, spec: LeaseSpec, signal: AbortSignal | undefined): Promise<boolean> {
    const written = await this.#store.write(lease, spec, signal)
    if (written === undefined) return false
    this.#observed = this.#toObservation(written)
    return true
  }

  #toObservation(lease: Lease | undefined): LeaseObservation {
    const previous = lease ?? this.#observed?.lease ?? this.#observed?.previous
    return { lease, since: this.#clock().monotonic, previous }
  }
}

function readVersion(lease: Lease | undefined): string | undefined {
  return lease?.metadata.resourceVersion
}
