import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import {
  type Contender,
  decideLease,
  type Lease,
  type LeaseSpec,
  leases,
  microTime,
  type Moment,
  type Observed,
} from './lease.ts'
import type { Manifest, Place } from './object.ts'
import { parseAnswer } from './parse.ts'
import { find } from './read.ts'
import { create, replace } from './write.ts'

export interface LeaseWish extends Contender, Required<Place> {}

export type Holding =
  /** Ours until then, by the clock that only goes on, unless it is renewed. */
  | { readonly held: true; readonly until: number }
  /** Somebody else's; who it is remains unknown when they were faster just now. */
  | { readonly held: false; readonly holder: string | undefined }

export type Clock = () => Moment

const realClock: Clock = () => ({ wall: new Date(), monotonic: performance.now() })

/** Something that only one of many may have at a time. Whoever has it must renew it, and stop work when that fails. */
export class LeaseLock {
  readonly #client: KubeClient
  readonly #wish: LeaseWish
  readonly #clock: Clock
  #observed: Observed | undefined

  constructor(client: KubeClient, wish: LeaseWish, clock: Clock = realClock) {
    this.#client = client
    this.#wish = wish
    this.#clock = clock
  }

  /** Takes the lease if it is free, and renews it if it is ours. */
  async tryHold(signal?: AbortSignal): Promise<Holding> {
    // Counted from before the request: when its answer comes, part of the time is over.
    const { monotonic: asked } = this.#clock()
    const observed = await this.#look(signal)
    const action = decideLease(observed, this.#wish, this.#clock())
    if (action.kind === 'wait') return { held: false, holder: action.holder }
    const written = await this.#write(observed.lease, action.spec, signal)
    return written ? { held: true, until: asked + this.#wish.duration } : { held: false, holder: undefined }
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
      if (lease === undefined || lease.spec?.holderIdentity !== this.#wish.identity) return false
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
    const lease = await find(this.#client, leases, this.#wish, this.#call(signal))
    const before = this.#observed
    const same = before !== undefined && versionOf(before.lease) === versionOf(lease)
    this.#observed = same ? before : { lease, since: this.#clock().monotonic }
    return this.#observed
  }

  /** Whether nobody was faster. */
  async #write(lease: Lease | undefined, spec: LeaseSpec, signal: AbortSignal | undefined): Promise<boolean> {
    const { apiVersion, kind } = leases
    const { namespace, name } = this.#wish
    const object: Manifest =
      lease === undefined
        ? { apiVersion, kind, metadata: { namespace, name }, spec }
        : { ...lease, spec: { ...lease.spec, ...spec } }
    try {
      const write = lease === undefined ? create : replace
      const written = await write(this.#client, object, this.#call(signal))
      this.#observed = {
        lease: parseAnswer(leases.schema, written, `lease ${name}`),
        since: this.#clock().monotonic,
      }
      return true
    } catch (error) {
      if (isKubeError(error, 'KUBE_CONFLICT')) return false
      throw error
    }
  }

  /** A request must not outlast what it is about. */
  #call(signal: AbortSignal | undefined): { signal: AbortSignal | undefined; timeout: number } {
    return { signal, timeout: this.#wish.duration / 3 }
  }
}

function versionOf(lease: Lease | undefined): string | undefined {
  return lease?.metadata.resourceVersion
}
