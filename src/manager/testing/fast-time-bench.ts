import type { TestAuthority } from '../../kit/testing/test-ca.ts'
import { TestTime } from '../../kit/testing/fake-monotonic-clock.ts'
import { type ElectionTiming, usualElection } from '../../kube/election.ts'
import type { ControllerRow } from '../controller.ts'
import { type Running, soon, type Stage, stage, type StageOptions } from './manager-bench.ts'

/** When every such hour begins. */
export const beginning = Date.parse('2026-11-16T08:00:00Z')

/** It is not about the election: nobody loses a lease because an hour goes by in seconds. */
const calm: ElectionTiming = { ...usualElection, duration: 3600_000, deadline: 1800_000, retry: 600_000 }

/** A stage on which time goes by as fast as controllers are done with it. */
export interface Hours extends AsyncDisposable {
  readonly stage: Stage
  readonly now: () => Date
  readonly start: (identity: string) => Promise<Running>
  /** So many minutes go by; `each` happens at the beginning of each of them. */
  readonly pass: (minutes: number, manager: Running, each?: (minute: number) => void) => Promise<void>
}

export async function hours(
  authority: TestAuthority,
  rows: readonly ControllerRow[],
  options: Pick<StageOptions, 'settings'> = {},
): Promise<Hours> {
  const time = new TestTime()
  const now = (): Date => new Date(beginning + time.now())
  const watched = new Set(rows.flatMap(({ watches }) => watches)).size
  const one = await stage(authority, rows, { ...options, time, now })
  return {
    stage: one,
    now,
    start: async (identity) => one.start(identity, calm),
    async pass(minutes, manager, each = () => undefined) {
      for (let minute = 0; minute < minutes; minute++) {
        // Who has to begin anew does so in real time: all that goes by meanwhile would be missed.
        await soon('all to be watched', () => one.cluster.objects.watching >= watched)
        each(minute)
        await manager.idle()
        await time.goOn(60_000)
        await manager.idle()
      }
    },
    [Symbol.asyncDispose]: async () => one[Symbol.asyncDispose](),
  }
}
