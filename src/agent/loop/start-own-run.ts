import { randomUUID } from 'node:crypto'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Emit, Runs } from '../runs/runs.ts'

export type OwnWork = (run: string, emit: Emit, stop: AbortSignal) => Promise<void>

/**
 * Does what nobody has asked for now as a run like any other: an operator who comes meanwhile waits for its end. Answers
 * with how it failed; one that was cut has not.
 */
export async function ownRun(
  runs: Runs,
  command: string,
  work: OwnWork,
  signal: AbortSignal,
): Promise<HyperkubeError | undefined> {
  const run = randomUUID()
  await runs.start(run, command, async (emit, stop) => work(run, emit, stop))
  for await (const { what } of runs.attach(run, 1, signal)) {
    if (what.type !== 'run-ended' || what.result.outcome !== 'failed') continue
    const { code, message, hint } = what.result.failure
    return new HyperkubeError(code, message, hint === undefined ? {} : { hint })
  }
  return undefined
}
