import type { NodePlan } from '../../../contract/node-plan.ts'
import { digestOf } from '../../../diff/digest.ts'
import type { HyperkubeError } from '../../../kit/errors.ts'
import { lastPlan } from '../../apply/applied-plan.ts'
import { journalRun, type OpRun } from '../../apply/run-op.ts'
import type { Host } from '../../host/host.ts'
import { isTaken, type TakenScene } from '../../loop/is-locked-by-other.ts'
import { ownRun } from '../../loop/start-own-run.ts'
import type { Runs } from '../../runs/runs.ts'
import { forgivingJournal } from './forgiving-journal.ts'

export interface HealingScene extends TakenScene {
  readonly host: Host
  /** The last one that the host was taken through. */
  readonly plan: NodePlan
  readonly runs: Runs
}

/**
 * Heals in a run like any other, in the journal. Nothing is done when somebody else has come meanwhile who decides what is
 * done here, or another plan. Answers with how the run failed.
 */
export async function healingRun(
  scene: HealingScene,
  command: string,
  heal: (run: OpRun) => Promise<void>,
  signal: AbortSignal,
): Promise<HyperkubeError | undefined> {
  const { host, plan, runs } = scene
  return ownRun(
    runs,
    command,
    async (run, emit, stop) => {
      const now = await lastPlan(host)
      if ((await isTaken(scene)) || now === undefined || digestOf(now) !== digestOf(plan)) return
      const opRun: OpRun = {
        name: plan.host,
        journal: await forgivingJournal(host, run),
        emit,
        signal: AbortSignal.any([signal, stop]),
      }
      await journalRun(opRun, { command, plan: digestOf(plan) }, async () => heal(opRun))
    },
    signal,
  )
}
