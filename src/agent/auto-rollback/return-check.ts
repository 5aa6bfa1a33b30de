import type { Host } from '../host/host.ts'
import type { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'
import { isLockedByOther } from '../operator-lock/operator-lock.ts'
import { ledgerPath } from '../records/ledger.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import type { TickResult } from '../runs/run-loop.ts'
import { type Runs, startOwnRun } from '../runs/runs.ts'

export interface ReturnCheckDeps {
  readonly host: Host
  readonly work: Pick<HostOperations, 'unfinishedMoves' | 'returnUnfinishedMoves' | 'activeRestore'>
  readonly runs: Runs
  readonly claims: Pick<OperatorLockStore, 'held'>
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/** How often the agent checks for unfinished moves, in milliseconds. */
export const returnCheckIntervalMs = 30_000
/**
 * Time without an operator and without a run, in milliseconds, after which a component returns. An operator
 * whose run was interrupted repeats it sooner.
 */
const returnDelayMs = 120_000

/**
 * Creates the check that returns components of an adopted host to their predecessors, if their move was
 * interrupted and the operator does not continue it.
 */
export function createReturnCheck(deps: ReturnCheckDeps): () => Promise<TickResult> {
  const { host, work, runs, log, signal } = deps
  const time = (): number => host.clock.now().getTime()
  let since = time()
  /** Time of the last change of a ledger without unfinished moves, so that the file is read only once. */
  let checkedLedger: string | undefined
  return async () => {
    const isInUse = runs.busy || (await isLockedByOther(deps))
    if (isInUse || time() < since) since = time()
    const ended: TickResult = { nextMs: returnCheckIntervalMs, problems: [] }
    const changed = (await host.files.stat(ledgerPath(host)))?.changed
    if (isInUse || changed === undefined || changed === checkedLedger || time() - since < returnDelayMs)
      return ended
    if ((await work.unfinishedMoves()).length === 0) {
      checkedLedger = changed
      return ended
    }
    const failure = await startOwnRun(
      runs,
      'return components whose move was interrupted',
      async (run, emit, stop) => {
        // An operator may have connected after the first check.
        if (await isLockedByOther(deps)) return
        await work.returnUnfinishedMoves(run, emit, stop)
        log('returned components whose move was interrupted')
      },
      signal,
    )
    return failure === undefined ? ended : { ...ended, problems: [failure] }
  }
}
