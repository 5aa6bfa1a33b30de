import { HyperkubeError } from '../kit/errors.ts'
import { pause, type Time } from '../kit/monotonic-clock.ts'
import type { Holding, LeaseLock } from './lease-lock.ts'
import { OwnTerm, type Term } from './leader-term.ts'

/** In milliseconds. */
export interface ElectionTiming {
  /** How long others wait for a leader of whom they hear nothing. */
  readonly duration: number
  /** How long a leader acts without a renewal: shorter, so that it has stopped before others begin. */
  readonly deadline: number
  readonly retry: number
  /** How long what the leader does may take to end. */
  readonly grace: number
}

/** As Kubernetes' own components have them. */
export const usualElection: ElectionTiming = {
  duration: 15_000,
  deadline: 10_000,
  retry: 2000,
  grace: 10_000,
}

export interface ElectionOptions {
  readonly timing: ElectionTiming
  readonly time: Time
  /** From 0 to 1. */
  readonly random: () => number
  /** Whenever it has become another one. */
  readonly onLeader?: (holder: string) => void
  /** Nothing of it ends the election. */
  readonly onTrouble?: (error: unknown) => void
}

/**
 * `stopped`: the signal came, or the work was over; `lost`: others may lead by now; `stuck`: it did not stop when it had
 * to. After the last two, the process must end: the next one is another contender, and gets another number.
 */
export type Ending = 'stopped' | 'lost' | 'stuck'

type Held = Extract<Holding, { held: true }>

/** Fails where a leader could still act when another one begins, or could never renew. */
export function checkTiming({ duration, deadline, retry }: ElectionTiming): void {
  if (duration > deadline && deadline > 1.5 * retry && retry > 0) return
  throw new HyperkubeError(
    'ELECTION_TIMING',
    `a lease of ${duration} ms, renewed every ${retry} ms within ${deadline} ms, is not safe`,
    {
      hint: 'the lease must be longer than the deadline, and the deadline longer than one and a half pauses',
    },
  )
}

/** Waits until it is our turn, leads until something ends that, and gives the lease back where it can. */
export async function lead(
  lock: Pick<LeaseLock, 'tryHold' | 'raise' | 'release'>,
  options: ElectionOptions,
  work: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<Ending> {
  const { timing, time } = options
  checkTiming(timing)
  const held = await contend(lock, options, signal)
  if (held === undefined) return 'stopped'
  using term = new OwnTerm(time, held.fence, lastMoment(held, timing), {
    stop: signal,
    raise: (number) => lock.raise(number),
  })
  const over = new AbortController()
  const kept = keep(lock, options, term, AbortSignal.any([over.signal, term.lost]))
  let ended = false
  try {
    ended = await endOf(work(term), term.signal, options)
  } finally {
    over.abort()
    await kept
    // Who has lost it has nothing to give, and who is stuck may still act.
    if ((ended || !term.signal.aborted) && !term.lost.aborted) await giveBack(lock, options)
  }
  if (term.lost.aborted) return 'lost'
  return ended ? 'stopped' : 'stuck'
}

async function contend(
  lock: Pick<LeaseLock, 'tryHold'>,
  { timing, time, random, onLeader, onTrouble }: ElectionOptions,
  signal: AbortSignal,
): Promise<Held | undefined> {
  let known: string | undefined
  while (!signal.aborted) {
    let left = Infinity
    try {
      const holding = await lock.tryHold(signal)
      const holder = holding.held ? holding.fence.holder : holding.holder
      if (holder !== undefined && holder !== known) onLeader?.(holder)
      known = holder ?? known
      // What took so long that it would be over at once is no beginning; the next try renews it.
      if (holding.held && lastMoment(holding, timing) > time.now()) return holding
      if (!holding.held) left = holding.left ?? Infinity
    } catch (error) {
      if (!signal.aborted) onTrouble?.(error)
    }
    // Those who wait together do not all come together, and none comes much later than it is free.
    const spread = random() * (timing.retry / 2)
    await pause(time, Math.min(timing.retry, left) + spread, signal)
  }
  return undefined
}

/** Renews it again and again, until the signal. */
async function keep(
  lock: Pick<LeaseLock, 'tryHold'>,
  { timing, time, onTrouble }: ElectionOptions,
  term: OwnTerm,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await pause(time, timing.retry, signal)
    if (signal.aborted) return
    try {
      const holding = await lock.tryHold(signal)
      if (holding.held) term.extend(holding.fence, lastMoment(holding, timing))
      else if (holding.holder !== undefined) term.lose(`${holding.holder} has the lease`)
    } catch (error) {
      if (!signal.aborted) onTrouble?.(error)
    }
  }
}

/** Until when its holder acts. */
function lastMoment({ until }: Held, { duration, deadline }: ElectionTiming): number {
  return until - duration + deadline
}

/** Whether the work has ended, at the latest so long after it had to. */
async function endOf(
  work: Promise<void>,
  signal: AbortSignal,
  { time, timing }: ElectionOptions,
): Promise<boolean> {
  const over = new AbortController()
  const late = new Promise<boolean>((resolve) => {
    const wait = (): void => void pause(time, timing.grace, over.signal).then(() => resolve(false))
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true })
  })
  const ended = work.then(
    () => true,
    (error: unknown) => {
      // Whatever it made of being stopped, it has stopped.
      if (signal.aborted) return true
      throw error
    },
  )
  try {
    return await Promise.race([ended, late])
  } finally {
    over.abort()
  }
}

async function giveBack(
  lock: Pick<LeaseLock, 'release'>,
  { timing, time, onTrouble }: ElectionOptions,
): Promise<void> {
  const late = new AbortController()
  const callOff = time.after(timing.retry, () => late.abort())
  try {
    await lock.release(late.signal)
  } catch (error) {
    // Others wait until it has run out.
    onTrouble?.(error)
  } finally {
    callOff()
  }
}
