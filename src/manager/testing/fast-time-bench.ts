import type { TestCa } from '../../kit/testing/test-ca.ts'
import { FakeMonotonicClock } from '../../kit/testing/fake-monotonic-clock.ts'
import { type ElectionTiming, defaultElectionTiming } from '../../kube/election.ts'
import type { ControllerDefinition } from '../controller.ts'
import {
  type RunningManager,
  waitUntil,
  type ManagerBench,
  createManagerBench,
  type ManagerBenchOptions,
} from './manager-bench.ts'

/** Start time of every test bench. */
export const fastTimeStart = Date.parse('2026-11-16T08:00:00Z')

/**
 * A lease so long that it is not lost while simulated hours pass in seconds. These tests are not about the
 * election.
 */
const longLease: ElectionTiming = {
  ...defaultElectionTiming,
  duration: 3600_000,
  deadline: 1800_000,
  retry: 600_000,
}

/** A manager bench with a simulated clock, which advances as fast as the controllers finish their work. */
export interface FastTimeBench extends AsyncDisposable {
  readonly bench: ManagerBench
  readonly now: () => Date
  readonly start: (identity: string) => Promise<RunningManager>
  /** Advances the clock by minutes. `each` is called at the beginning of every minute. */
  readonly advanceMinutes: (
    minutes: number,
    manager: RunningManager,
    each?: (minute: number) => void,
  ) => Promise<void>
}

export async function createFastTimeBench(
  ca: TestCa,
  definitions: readonly ControllerDefinition[],
  options: Pick<ManagerBenchOptions, 'settings'> = {},
): Promise<FastTimeBench> {
  const time = new FakeMonotonicClock()
  const now = (): Date => new Date(fastTimeStart + time.now())
  const watchCount = new Set(definitions.flatMap(({ watches }) => watches)).size
  const one = await createManagerBench(ca, definitions, { ...options, time, now })
  return {
    bench: one,
    now,
    start: async (identity) => one.start(identity, longLease),
    async advanceMinutes(minutes, manager, each = () => undefined) {
      for (let minute = 0; minute < minutes; minute++) {
        // Watches reconnect in real time. Without this wait they would miss changes.
        await waitUntil('all to be watched', () => one.cluster.objects.watching >= watchCount)
        each(minute)
        await manager.idle()
        await time.advance(60_000)
        await manager.idle()
      }
    },
    [Symbol.asyncDispose]: async () => one[Symbol.asyncDispose](),
  }
}
