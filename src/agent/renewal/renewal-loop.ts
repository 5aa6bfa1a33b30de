import { signForNodes } from './sign-for-nodes.ts'
import { SigningQuota } from './signing-quota.ts'
import type { RenewalDeps } from './renew-local.ts'
import { type TickResult, runLoop } from '../runs/run-loop.ts'

export interface RenewalLoopDeps extends RenewalDeps {
  /**
   * Renews the certificates of this host. The handler of renewal requests calls the same function; concurrent
   * calls run one after the other.
   */
  readonly renew: () => Promise<TickResult>
  readonly random: () => number
}

/**
 * Renews the certificates of this host until aborted. On hosts with CA keys it also signs the certificates
 * that nodes request.
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
  const quota = new SigningQuota()
  await Promise.all([
    runLoop({ tick: renew, ...loopOptions }),
    runLoop({ tick: async () => signForNodes({ ...deps, quota }), ...loopOptions }),
  ])
}
