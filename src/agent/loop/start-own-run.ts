import { randomUUID } from 'node:crypto'
import { HyperkubeError } from '../../kit/errors.ts'
import type { EmitRunEvent } from '../apply/emit-run-event.ts'
import type { Runs } from '../runs/runs.ts'

export type OwnRunWork = (run: string, emit: EmitRunEvent, stop: AbortSignal) => Promise<void>

/**
 * Executes work that the agent started by itself as a regular run, so that an operator's run waits for its
 * end. Returns the failure, if any; an interrupted run did not fail.
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
