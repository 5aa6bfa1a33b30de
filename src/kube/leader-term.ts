import type { Fence } from '../contract/fence.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { MonotonicClock } from '../kit/monotonic-clock.ts'

/** The time in which one contender leads. */
export interface LeaderTerm {
  /** Aborted when the term is over or should end: finish what was begun, and begin nothing more. */
  readonly signal: AbortSignal
  /** Aborted when another contender may lead: do nothing more. */
  readonly lost: AbortSignal
  /**
   * The fence to act with; call it directly before each action. Fails if the lease is lost, even before the
   * timer has fired: after a pause of the whole process, timers are late.
   */
  fence(): Fence
  /**
   * Reports that a host knows a higher fence than ours. This happens after a restored etcd, whose lease has
   * numbers that were already used. If we really lead, our fence rises above it soon.
   */
  raise(higher: Fence): void
}

/** A term that ends by itself unless it is extended. */
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

  /** `stop` ends the term early; `raise` receives the number that the next fence must exceed. */
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
    if (this.#time.now() >= this.#until) this.lose('the lease could not be renewed in time')
    this.lost.throwIfAborted()
    return this.#fence
  }

  raise({ transitions }: Fence): void {
    if (transitions < this.#raised) return
    this.#raised = transitions + 1
    this.#raise(transitions)
  }

  /** A different fence is another term, unless we asked to raise it. */
  extend({ holder, transitions }: Fence, until: number): void {
    const isOurs = holder === this.#fence.holder && transitions <= this.#raised
    if (!isOurs) return this.lose('the lease was taken away')
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
    return this.#time.after(left, () => this.lose('the lease could not be renewed in time'))
  }
}
