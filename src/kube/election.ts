import { HyperkubeError } from '../kit/errors.ts'
import { sleepUnlessAborted, type MonotonicClock } from '../kit/monotonic-clock.ts'
import type { LeaseHold, LeaseLock } from './lease-lock.ts'
import { LeaseTerm, type LeaderTerm } from './leader-term.ts'

/** Timing of the leader election, in milliseconds. */
export interface ElectionTiming {
  /** Lease duration: how long other contenders wait for a leader that does not renew the lease. */
  readonly duration: number
  /**
   * How long a leader may act without renewing the lease. This must be shorter than `duration`, because the
   * leader must stop before another contender takes over.
   */
  readonly deadline: number
  readonly retry: number
  /** How long the work of the leader may take to stop. */
  readonly grace: number
}

/** The defaults of Kubernetes components such as kube-controller-manager. */
export const defaultElectionTiming: ElectionTiming = {
  duration: 15_000,
  deadline: 10_000,
  retry: 2000,
  grace: 10_000,
}

export interface ElectionOptions {
  readonly timing: ElectionTiming
  readonly time: MonotonicClock
  /** Source of random numbers from 0 to 1, used to vary retry delays. */
  readonly random: () => number
  /** Called when the leader changes. */
  readonly onLeader?: (holder: string) => void
  /** Called with errors that do not end the election. */
  readonly onError?: (error: unknown) => void
}

/**
 * `stopped`: the signal was aborted or the work ended. `lost`: another contender may lead now. `stuck`: the
 * work did not stop in time. After `lost` and `stuck` the process must exit: a new process is a new contender
 * with a new fence.
 */
export type ElectionResult = 'stopped' | 'lost' | 'stuck'

type AcquiredLease = Extract<LeaseHold, { held: true }>

/**
 * Throws if the timing is unsafe: a leader must stop before its lease expires, and it must have enough time
 * to renew the lease.
 */
export function checkElectionTiming({ duration, deadline, retry }: ElectionTiming): void {
  if (duration > deadline && deadline > 1.5 * retry && retry > 0) return
  throw new HyperkubeError(
    'ELECTION_TIMING',
    `a lease of ${duration} ms, renewed every ${retry} ms within ${deadline} ms, is not safe`,
    {
      hint: 'the lease must be longer than the deadline, and the deadline longer than 1.5 retry intervals',
    },
  )
}

/**
 * Waits for the lease and runs `work` as leader. Afterwards releases the lease, unless the lease was lost or
 * `work` did not stop.
 */
export async function runElection(
  lock: Pick<LeaseLock, 'tryAcquire' | 'raise' | 'release'>,
  options: ElectionOptions,
  work: (term: LeaderTerm) => Promise<void>,
  signal: AbortSignal,
): Promise<ElectionResult> {
  const { timing, time } = options
  checkElectionTiming(timing)
  const acquired = await acquireLease(lock, options, signal)
  if (acquired === undefined) return 'stopped'
  using term = new LeaseTerm(time, acquired.fence, leadershipEnd(acquired, timing), {
    stop: signal,
    raise: (number) => lock.raise(number),
  })
  const finished = new AbortController()
  const renewing = renewLease(lock, options, term, AbortSignal.any([finished.signal, term.lost]))
  let ended = false
  try {
    ended = await waitForEnd(work(term), term.signal, options)
  } finally {
    finished.abort()
    await renewing
    // A lost lease cannot be released. A lease with stuck work must not be released, because the work may
    // still act.
    if ((ended || !term.signal.aborted) && !term.lost.aborted) await releaseLease(lock, options)
  }
  if (term.lost.aborted) return 'lost'
  return ended ? 'stopped' : 'stuck'
}

async function acquireLease(
  lock: Pick<LeaseLock, 'tryAcquire'>,
  { timing, time, random, onLeader, onError }: ElectionOptions,
  signal: AbortSignal,
): Promise<AcquiredLease | undefined> {
  let known: string | undefined
  while (!signal.aborted) {
    let left = Infinity
    try {
      const holding = await lock.tryAcquire(signal)
      const holder = holding.held ? holding.fence.holder : holding.holder
      if (holder !== undefined && holder !== known) onLeader?.(holder)
      known = holder ?? known
      // If the request took too long, the time to act as leader is already over. The next attempt then renews
      // the lease.
      if (holding.held && leadershipEnd(holding, timing) > time.now()) return holding
      if (!holding.held) left = holding.left ?? Infinity
    } catch (error) {
      if (!signal.aborted) onError?.(error)
    }
    // The random delay prevents contenders from sending requests at the same time. `left` ends the wait soon
    // after the current lease expires.
    const jitter = random() * (timing.retry / 2)
    await sleepUnlessAborted(time, Math.min(timing.retry, left) + jitter, signal)
  }
  return undefined
}

/** Renews the lease until the signal is aborted. */
async function renewLease(
  lock: Pick<LeaseLock, 'tryAcquire'>,
  { timing, time, onError }: ElectionOptions,
  term: LeaseTerm,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleepUnlessAborted(time, timing.retry, signal)
    if (signal.aborted) return
    try {
      const holding = await lock.tryAcquire(signal)
      if (holding.held) term.extend(holding.fence, leadershipEnd(holding, timing))
      else if (holding.holder !== undefined) term.lose(`${holding.holder} holds the lease`)
    } catch (error) {
      if (!signal.aborted) onError?.(error)
    }
  }
}

/** Returns the time until which the holder may act. */
function leadershipEnd({ until }: AcquiredLease, { duration, deadline }: ElectionTiming): number {
  return until - duration + deadline
}

/** Returns true if the work ended, and false if it still runs after the grace period. */
async function waitForEnd(
  work: Promise<void>,
  signal: AbortSignal,
  { time, timing }: ElectionOptions,
): Promise<boolean> {
  const finished = new AbortController()
  const timeout = new Promise<boolean>((resolve) => {
    const startTimeout = (): void =>
      void sleepUnlessAborted(time, timing.grace, finished.signal).then(() => resolve(false))
    if (signal.aborted) startTimeout()
    else signal.addEventListener('abort', startTimeout, { once: true })
  })
  const ended = work.then(
    () => true,
    (error: unknown) => {
      // An error after the abort also means that the work has stopped.
      if (signal.aborted) return true
      throw error
    },
  )
  try {
    return await Promise.race([ended, timeout])
  } finally {
    finished.abort()
  }
}

async function releaseLease(
  lock: Pick<LeaseLock, 'release'>,
  { timing, time, onError }: ElectionOptions,
): Promise<void> {
  const timeout = new AbortController()
  const cancelTimer = time.after(timing.retry, () => timeout.abort())
  try {
    await lock.release(timeout.signal)
  } catch (error) {
    // If the release fails, other contenders wait until the lease expires.
    onError?.(error)
  } finally {
    cancelTimer()
  }
}
