import { signForNodes } from './sign-for-nodes.ts'
import type { RenewalDeps } from './renew-local.ts'
import { type TickResult, runLoop } from '../loop/run-loop.ts'

export interface RenewalLoopDeps extends RenewalDeps {
  /** Checks this host. Requests use the same function, and its calls wait for each other. */
  readonly renew: () => Promise<TickResult>
  readonly random: () => number
}

/**
 * Renews the certificates of this host and, where it has CA keys, signs those that nodes request. Runs until
 * aborted.
 */
export async function runRenewalLoop(deps: RenewalLoopDeps): Promise<void> {
  const { host, intervals, renew, random, log, signal } = deps
  const loopOptions = {
    firstMs: intervals.firstMs,
    retryMs: intervals.requestsMs,
    clock: host.clock,
    random,
    log,
    signal,
  }
  await Promise.all([
    runLoop({ tick: renew, ...loopOptions }),
    runLoop({ tick: async () => signForNodes(deps), ...loopOptions }),
  ])
}
