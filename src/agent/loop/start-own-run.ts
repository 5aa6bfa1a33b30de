import { randomUUID } from 'node:crypto'
import { HyperkubeError } from '../../kit/errors.ts'
import type { EmitRunEvent } from '../apply/emit-run-event.ts'
import type { Runs } from '../runs/runs.ts'

export type OwnRunWork = (run: string, emit: EmitRunEvent, stop: AbortSignal) => Promise<void>

/**
 * Executes work that the agent starts by itself as a regular run, so that runs of operators are queued after
 * it. Returns the error of a failed run; an interrupted run counts as not failed.
 */
export async function startOwnRun(
  runs: Runs,
  command: string,
  work: OwnRunWork,
  signal: AbortSignal,
): Promise<HyperkubeError | undefined> {
  const run = randomUUID()
  await runs.start(run, command, async (emit, stop) => work(run, emit, stop))
  for await (const { body } of runs.attach(run, 1, signal)) {
    if (body.type !== 'run-ended' || body.result.outcome !== 'failed') continue
    const { code, message, hint } = body.result.failure
    return new HyperkubeError(code, message, hint === undefined ? {} : { hint })
  }
  return undefined
}
