import { expect } from 'vitest'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { Killed, withCrash } from '../../apply/testing/crash-injection.ts'
import { applyAndListOps, someRunId } from '../../apply/testing/fixtures.ts'
import type { LinuxHost } from '../../host/host.ts'
import { runReturn } from '../reset.ts'

/** Options of a run that returns or resets a host. */
export const runOptions = {
  name: 'a',
  run: someRunId,
  emit: () => undefined,
  signal: new AbortController().signal,
}

export interface InterruptedMove {
  readonly host: LinuxHost
  readonly plan: NodePlan
  /** Distance of the crash points. A smaller one takes more time. */
  readonly distance: number
  /** Reads everything that the rollback must restore. */
  readonly observe: () => Promise<unknown>
  /** Prepares the host for the next attempt to move. */
  readonly beforeRetry?: () => void
  /** Checks that the host has moved. */
  readonly afterMove: () => Promise<void>
}

/**
 * Kills the agent at one crash point of the move and of the rollback, and repeats each of them until its end. Goes on
 * with later crash points until the move ends before one. Expects that each rollback restores everything.
 */
export async function expectReturnAfterCrashes(options: InterruptedMove): Promise<void> {
  const { host, plan, distance, observe, beforeRetry, afterMove } = options
  const original = await observe()
  for (let ends = 40, killed = true; killed; ends += distance) {
    killed = await wasKilled(applyAndListOps(withCrash(host, { calls: 0, ends }), plan))
    beforeRetry?.()
    await applyAndListOps(host, plan)
    await afterMove()
    await wasKilled(runReturn({ ...runOptions, host: withCrash(host, { calls: 0, ends }) }))
    await runReturn({ ...runOptions, host })
    expect(await observe(), `killed at ${ends}`).toEqual(original)
  }
}

/** Rejects if the work fails for another reason. */
async function wasKilled(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return false
  } catch (error) {
    if (!isKilled(error)) throw error
    return true
  }
}

function isKilled(error: unknown): boolean {
  return error instanceof Killed || (error instanceof Error && isKilled(error.cause))
}
