import type { Fence } from '../contract/host-resource.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { MonotonicClock } from '../kit/monotonic-clock.ts'

/** The period during which one contender is leader. */
export interface LeaderTerm {
  /**
   * Aborted when the term is over or should end. Work in progress may finish, but new work must not start.
   */
  readonly signal: AbortSignal
  /** Aborted when another contender may lead. All work must stop immediately. */
  readonly lost: AbortSignal
  /**
   * Returns the fence to act with. Must be called directly before each action. Throws if the lease is lost or
   * has expired, even if the timer of `lost` is late because the process was paused.
   */
  fence(): Fence
  /**
   * Reports that a host knows a higher fence than the fence of this term, for example after etcd was
   * restored. If this process still leads, its fence soon rises above `higher`.
   */
  raise(higher: Fence): void
}

/** A term that ends when its lease expires, unless the term is extended. */
export class LeaseTerm implements LeaderTerm, Disposable {
  readonly signal: AbortSignal
  readonly lost: AbortSignal
  readonly #time: MonotonicClock
  readonly #raise: (number: number) => void
  #fence: Fence
  #raised: number
  readonly #lost = new AbortController()
  #until: number
  #cancelTimer: () => void

  /** `stop` ends the term early. `raise` is called with the number that the next fence must exceed. */
  constructor(
    time: MonotonicClock,
    fence: Fence,
    until: number,
    { stop, raise }: { readonly stop: AbortSignal; readonly raise: (number: number) => void },
  ) {
    this.#time = time
    this.#fence = fence
    this.#raised = fence.transitions
    this.#raise = raise
    this.#until = until
    this.lost = this.#lost.signal
    this.signal = AbortSignal.any([stop, this.lost])
    this.#cancelTimer = this.#startTimer()
  }

  fence(): Fence {
    if (this.#time.now() >= this.#until) this.lose('the lease was not renewed in time')
    this.lost.throwIfAborted()
    return this.#fence
  }

  raise({ transitions }: Fence): void {
    if (transitions < this.#raised) return
    this.#raised = transitions + 1
    this.#raise(transitions)
  }

  /**
   * Extends the term. A different fence means that the lease was lost, unless this term requested a higher
   * fence.
   */
  extend({ holder, transitions }: Fence, until: number): void {
    const isOurs = holder === this.#fence.holder && transitions <= this.#raised
    if (!isOurs) return this.lose('another process took the lease')
    this.#fence = { holder, transitions }
    this.#until = until
    this.#cancelTimer()
    this.#cancelTimer = this.#startTimer()
  }

  lose(reason: string): void {
    this.#cancelTimer()
    this.#lost.abort(new HyperkubeError('LEADERSHIP_LOST', `no longer the leader: ${reason}`))
  }

  [Symbol.dispose](): void {
    this.#cancelTimer()
  }

  #startTimer(): () => void {
    const left = Math.max(0, this.#until - this.#time.now())
    return this.#time.after(left, () => this.lose('the lease was not renewed in time'))
  }
}
