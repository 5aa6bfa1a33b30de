import { expect, test } from 'vitest'
import { everywhere, inputOf, liveOf, planned } from './testing/fixtures.ts'
import type { RolloutInput } from './input.ts'
import { type Rollout, rollout } from './rollout.ts'

const plans = planned(5000)

/** Generous: it takes some ten milliseconds, unless it grows with the square of the hosts. */
const limit = 1000

function timed(input: RolloutInput): Rollout {
  const begin = process.cpuUsage()
  const result = rollout(input)
  const { user, system } = process.cpuUsage(begin)
  expect((user + system) / 1000).toBeLessThan(limit)
  return result
}

test('five thousand nodes come into being', () => {
  expect(timed(inputOf({ plans, ops: everywhere(plans, false) })).steps).toHaveLength(3)
})

test('five thousand nodes change one by one, and some are away', () => {
  const unreachable = plans.slice(-100).map(({ host }) => host)
  const input = inputOf({
    plans,
    live: liveOf(plans),
    ops: everywhere(plans, true),
    unreachable,
    maxUnavailable: 101,
    kubeletBefore: new Map(plans.map(({ host }) => [host, '1.36.4'])),
  })
  const { steps, skipped } = timed(input)
  expect(steps).toHaveLength(1 + 3 * 4 + 4900)
  expect(skipped).toHaveLength(100)
})
