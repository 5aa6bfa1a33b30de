import { maxProvisionalMs, type ProvisionalChange } from '../../contract/provisional-change.ts'
import type { Host } from '../host/host.ts'
import type { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'
import { isLockedByOther, lockTimeoutMs } from '../operator-lock/operator-lock.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import type { TickResult } from '../runs/run-loop.ts'
import { type Runs, startOwnRun } from '../runs/runs.ts'

export interface RollbackCheckDeps {
  readonly host: Host
  readonly work: Pick<HostOperations, 'provisional' | 'rollback' | 'activeRestore'>
  readonly runs: Runs
  readonly claims: Pick<OperatorLockStore, 'held'>
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/** How often the agent checks whether it must roll back, in milliseconds. A check reads one small file. */
export const rollbackCheckIntervalMs = 15_000
/** Shortest time until the next check, in milliseconds, used when the deadline is near. */
const minIntervalMs = 1000
/**
 * Time until the next try after a failed rollback, in milliseconds. A rollback usually fails because a
 * service does not start.
 */
const retryIntervalMs = 60_000

/**
 * Creates the check that rolls back a provisional change after its deadline. The time of the last operator
 * activity is kept only in memory. After a restart, the time of the agent's start is used instead.
 */
export function createRollbackCheck(deps: RollbackCheckDeps): () => Promise<TickResult> {
  const { host, work, runs, claims, log, signal } = deps
  const time = (): number => host.clock.now().getTime()
  let since = time()

  const readInactivity = (): Inactivity => ({ since, isReleased: claims.held?.released ?? true })
  /**
   * Returns when to roll back, in milliseconds since 1970, or undefined if no provisional change is active.
   */
  const findRollbackTime = async (): Promise<number | undefined> => {
    const provisional = await work.provisional()
    return provisional?.state === 'provisional'
      ? computeRollbackTime(provisional, readInactivity(), time())
      : undefined
  }

  return async () => {
    // An operator who follows a run sends no heartbeats. A run in progress therefore also counts as use of
    // the host, unless the operator lock was released.
    const isInUse = (await isLockedByOther(deps)) || (runs.busy && !readInactivity().isReleased)
    if (isInUse || time() < since) since = time()
    const at = await findRollbackTime()
    if (at === undefined) return { nextMs: rollbackCheckIntervalMs, problems: [] }
    const left = at - time()
    if (isInUse || left > 0 || runs.busy)
      return { nextMs: Math.max(minIntervalMs, Math.min(left, rollbackCheckIntervalMs)) }
    const failure = await startOwnRun(
      runs,
      'roll back an unconfirmed provisional change',
      async (run, emit, stop) => {
        // Check again, because an operator may have connected or moved the deadline after the first check.
        if (((await findRollbackTime()) ?? Infinity) > time() || (await isLockedByOther(deps))) return
        await work.rollback(run, emit, stop)
        log('rolled back an unconfirmed provisional change')
      },
      signal,
    )
    return failure === undefined
      ? { nextMs: rollbackCheckIntervalMs, problems: [] }
      : { nextMs: retryIntervalMs, problems: [failure] }
  }
}

/** The time without an active operator. */
interface Inactivity {
  /**
   * Time of the last operator activity or of the agent's start, whichever is later, in milliseconds since
   * 1970.
   */
  readonly since: number
  /** True if the last operator has released the operator lock. Otherwise the lock must time out first. */
  readonly isReleased: boolean
}

/** Tolerated clock error in milliseconds. */
const maxClockErrorMs = 3_600_000

/**
 * Returns when a host rolls back, in milliseconds since 1970. Several hosts may lose their operator or power
 * at the same time. Each host has its own delay, so that they do not all roll back together.
 */
export function computeRollbackTime(
  { deadline, rollbackDelayMs }: Pick<ProvisionalChange, 'deadline' | 'rollbackDelayMs'>,
  inactivity: Inactivity,
  now: number,
): number {
  const end = Date.parse(deadline)
  // If the deadline is further away than the longest provisional change, the host's clock was set back. The
  // deadline then counts as passed.
  const endsAt = end - now > maxProvisionalMs + maxClockErrorMs ? 0 : end
  return Math.max(endsAt, inactivity.since + (inactivity.isReleased ? 0 : lockTimeoutMs)) + rollbackDelayMs
}
