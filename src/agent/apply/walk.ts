import type { Op } from '../../contract/op.ts'
import { perform, type PlanRun } from './perform.ts'
import { runOp } from './run.ts'
import { abandon, begin, type Begun, endsUs, finish, isStart, needNoStart, nothingBegun } from './starts.ts'

/**
 * One op after the other. Services of a stage are started without waiting for each, and awaited before the next stage
 * begins or anything goes. Answers with the starts that would end this process, which come last of all.
 */
export async function walk(run: PlanRun, ops: readonly Op[]): Promise<readonly Op[]> {
  const own: Op[] = []
  let begun: Begun = nothingBegun
  const finishAll = async (): Promise<void> => {
    const all = begun
    begun = nothingBegun
    await finish(run, all)
  }
  const take = async (op: Op): Promise<void> => {
    if (op.target === 'derived-file' && op.action !== 'remove') {
      begun = { ...begun, derived: [...begun.derived, op] }
    } else if (isStart(op)) {
      const ends = await endsUs(run, op)
      if (ends === 'yes') own.push(op)
      else if (ends === 'in vain') await needNoStart(run, op)
      else begun = { ...begun, starts: [...begun.starts, await begin(run, op)] }
    } else {
      await runOp(run, op, async () => perform(run, op))
    }
  }
  try {
    for (const [index, op] of ops.entries()) {
      const isNext = op.stage !== ops[index - 1]?.stage || op.action === 'remove' || op.action === 'stop'
      if (isNext) await finishAll()
      await take(op)
    }
    await finishAll()
  } catch (error) {
    await abandon(run, begun)
    throw error
  }
  return own
}
