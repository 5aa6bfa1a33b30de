import type { Host } from '../host/host.ts'
import { isLockedByOther } from '../loop/is-locked-by-other.ts'
import { startOwnRun } from '../loop/start-own-run.ts'
import type { TickResult } from '../loop/run-loop.ts'
import type { HostOperations } from '../server/dispatch.ts'
import type { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'
import type { Runs } from '../runs/runs.ts'
import { computeRollbackTime, type Inactivity } from './rollback-time.ts'

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
/** Lower bound of the interval when the deadline is near. */
const minIntervalMs = 1000
/** Retry interval after a failed rollback; the usual cause is a service that does not start. */
const retryIntervalMs = 60_000

/**
 * Rolls back when the time of a provisional change is over. All state is on disk, except since when no
 * operator was active; a restarted agent waits for operators again.
 */
export function createRollbackCheck(deps: RollbackCheckDeps): () => Promise<TickResult> {
  const { host, work, runs, claims, log, signal } = deps
  const time = (): number => host.clock.now().getTime()
  let since = time()

  const readInactivity = (): Inactivity => ({ since, isReleased: claims.held?.released ?? true })
  /** When to roll back; undefined if no provisional change is active. */
  const findRollbackTime = async (): Promise<number | undefined> => {
    const provisional = await work.provisional()
    return provisional?.state === 'provisional'
      ? computeRollbackTime(provisional, readInactivity(), time())
      : undefined
  }

  return async () => {
    // An operator who follows a run sends no heartbeat meanwhile.
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
        // An operator may have come meanwhile and moved the deadline.
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
