import type { Op } from '../../contract/op.ts'
import { applyOp, type PlanRun } from './apply-op.ts'
import { runOp } from './run-op.ts'
import { type StageEndOps, isStart, noStageEndOps, startStage } from './start-stage.ts'

/**
 * Runs ops in order. Services of a stage start together after its other ops and are awaited before images,
 * the next stage and any removal. Returns the starts that would end this process; the caller runs them last.
 */
export async function runOps(run: PlanRun, ops: readonly Op[]): Promise<readonly Op[]> {
  const selfRestarts: Op[] = []
  let stageEnd: StageEndOps = noStageEndOps
  const finishStage = async (): Promise<void> => {
    const ended = stageEnd
    stageEnd = noStageEndOps
    if (ended !== noStageEndOps) selfRestarts.push(...(await startStage(run, ended)))
  }
  for (const [index, op] of ops.entries()) {
    const endsStage = op.stage !== ops[index - 1]?.stage || op.action === 'remove' || op.action === 'stop'
    if (endsStage) await finishStage()
    if (op.target === 'derived-file' && op.action !== 'remove') {
      stageEnd = { ...stageEnd, derived: [...stageEnd.derived, op] }
    } else if (op.target === 'image' && op.action !== 'remove') {
      stageEnd = { ...stageEnd, images: [...stageEnd.images, op] }
    } else if (isStart(op)) {
      stageEnd = { ...stageEnd, starts: [...stageEnd.starts, op] }
    } else {
      await runOp(run, op, async () => applyOp(run, op))
    }
  }
  await finishStage()
  return selfRestarts
}
