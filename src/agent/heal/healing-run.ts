import type { NodePlan } from '../../contract/node-plan.ts'
import { computeDigest } from '../../diff/resource.ts'
import type { HyperkubeError } from '../../kit/errors.ts'
import { type Journal, openJournal } from '../records/journal.ts'
import { journalRun, type OpRunContext } from '../records/run-op.ts'
import { readAppliedPlan } from '../records/state-file.ts'
import type { Host } from '../host/host.ts'
import { isLockedByOther, type LockedByOtherDeps } from '../operator-lock/operator-lock.ts'
import { type Runs, startOwnRun } from '../runs/runs.ts'

export interface HealingRunDeps extends LockedByOtherDeps {
  readonly host: Host
  /** The last plan that was applied to the host. */
  readonly plan: NodePlan
  readonly runs: Runs
}

/**
 * Runs `heal` in a journaled run. Does nothing if an operator has claimed the host or another plan was
 * applied meanwhile. Returns the error if the run failed.
 */
export async function runHealing(
  deps: HealingRunDeps,
  command: string,
  heal: (run: OpRunContext) => Promise<void>,
  signal: AbortSignal,
): Promise<HyperkubeError | undefined> {
  const { host, plan, runs } = deps
  return startOwnRun(
    runs,
    command,
    async (run, emit, stop) => {
      const currentPlan = await readAppliedPlan(host)
      if (
        (await isLockedByOther(deps)) ||
        currentPlan === undefined ||
        computeDigest(currentPlan) !== computeDigest(plan)
      )
        return
      const opRun: OpRunContext = {
        name: plan.host,
        journal: await openBestEffortJournal(host, run),
        emit,
        signal: AbortSignal.any([signal, stop]),
      }
      await journalRun(opRun, { command, plan: computeDigest(plan) }, async () => heal(opRun))
    },
    signal,
  )
}

/**
 * Opens a journal that ignores write errors, because a full disk must not prevent healing. The agent's log
 * contains the same lines.
 */
async function openBestEffortJournal(host: Host, run: string): Promise<Journal> {
  const journal = await openJournal(host, run).catch(() => undefined)
  return { write: async (what) => journal?.write(what).catch(() => undefined) }
}
