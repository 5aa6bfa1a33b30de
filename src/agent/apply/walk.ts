import type { Op } from '../../contract/op.ts'
import { perform, type PlanRun } from './apply-op.ts'
import { runOp } from './run-op.ts'
import { type StageEnd, isStart, nothingLeft, startAll } from './start-stage.ts'

/**
 * One op after the other. Services of a stage are started together when all else of it is done, and awaited before its
 * images come, the next stage begins or anything goes. Answers with the starts that would end this process, which come last of all.
 */
export async function walk(run: PlanRun, ops: readonly Op[]): Promise<readonly Op[]> {
  const own: Op[] = []
  let waiting: StageEnd = nothingLeft
  const finishStage = async (): Promise<void> => {
    const all = waiting
    waiting = nothingLeft
    if (all !== nothingLeft) own.push(...(await startAll(run, all)))
  }
  for (const [index, op] of ops.entries()) {
    const isNext = op.stage !== ops[index - 1]?.stage || op.action === 'remove' || op.action === 'stop'
    if (isNext) await finishStage()
    if (op.target === 'derived-file' && op.action !== 'remove') {
      waiting = { ...waiting, derived: [...waiting.derived, op] }
    } else if (op.target === 'image' && op.action !== 'remove') {
      waiting = { ...waiting, images: [...waiting.images, op] }
    } else if (isStart(op)) {
      waiting = { ...waiting, starts: [...waiting.starts, op] }
    } else {
      await runOp(run, op, async () => perform(run, op))
    }
  }
  await finishStage()
  return own
}
