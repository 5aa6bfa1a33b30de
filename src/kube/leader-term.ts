import type { Fence } from '../contract/fence.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Time } from '../kit/monotonic-clock.ts'

/** The time for which one leads. */
export interface Term {
  /** Aborted when it is over, or shall be: what was begun is brought to an end, and nothing else is begun. */
  readonly signal: AbortSignal
  /** Aborted when others may lead: nothing more may be done. */
  readonly lost: AbortSignal
  /**
   * In whose name to act, asked right before. Fails where it was lost, also when nobody has come to say so yet: after
   * a pause of the whole process, alarms are late.
   */
  fence(): Fence
  /**
   * Somebody has seen a higher number than ours: who leads by the lease of an etcd that was restored has one that was
   * already used. If it is really we who lead, ours is above it soon.
   */
  raise(seen: Fence): void
}

/** A term that ends by itself unless it is extended. */
export class OwnTerm implements Term, Disposable {
  readonly signal: AbortSignal
  readonly lost: AbortSignal
  readonly #time: Time
  readonly #raise: (number: number) => void
  #fence: Fence
  #raised: number
  readonly #lost = new AbortController()
  #until: number
  #callOff: () => void

  /** `stop` ends it before its time; `raise` is told what the number shall be above. */
  constructor(
    time: Time,
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
    this.#callOff = this.#setAlarm()
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

  /** Another fence is only another term where we have not asked for it. */
  extend({ holder, transitions }: Fence, until: number): void {
    const isOurs = holder === this.#fence.holder && transitions <= this.#raised
    if (!isOurs) return this.lose('the lease was taken away')
    this.#fence = { holder, transitions }
    this.#until = until
    this.#callOff()
    this.#callOff = this.#setAlarm()
  }

  lose(why: string): void {
    this.#callOff()
    this.#lost.abort(new HyperkubeError('LEADERSHIP_LOST', `no longer the leader: ${why}`))
  }

  [Symbol.dispose](): void {
    this.#callOff()
  }

  #setAlarm(): () => void {
    const left = Math.max(0, this.#until - this.#time.now())
    return this.#time.after(left, () => this.lose('the lease could not be renewed in time'))
  }
}
