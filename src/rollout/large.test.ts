import { expect, test } from 'vitest'
import { changeEverywhere, buildRolloutInput, toLiveHosts, buildPlans } from './testing/fixtures.ts'
import type { RolloutInput } from './input.ts'
import { type RolloutPlan, planRollout } from './rollout.ts'

const plans = buildPlans(5000)

/**
 * Maximum CPU time in milliseconds. Planning a rollout takes about ten milliseconds. Planning exceeds the
 * maximum only if its time grows quadratically with the number of hosts.
 */
const limit = 1000

function timed(input: RolloutInput): RolloutPlan {
  const begin = process.cpuUsage()
  const result = planRollout(input)
  const { user, system } = process.cpuUsage(begin)
  expect((user + system) / 1000).toBeLessThan(limit)
  return result
}

test('the bootstrap of 5,000 nodes is planned in linear time, as 3 steps', () => {
  expect(timed(buildRolloutInput({ plans, ops: changeEverywhere(plans, false) })).steps).toHaveLength(3)
})

test('a rolling change of 5,000 nodes is planned in linear time and skips 100 unreachable nodes', () => {
  const unreachable = plans.slice(-100).map(({ host }) => host)
  const input = buildRolloutInput({
    plans,
    live: toLiveHosts(plans),
    ops: changeEverywhere(plans, true),
    unreachable,
    maxUnavailable: 101,
    currentKubelets: new Map(plans.map(({ host }) => [host, '1.36.4'])),
  })
  const { steps, skipped } = timed(input)
  // A control plane has three steps: etcd with the API server, the controllers, the kubelet with the network.
  expect(steps).toHaveLength(1 + 3 * 3 + 4900)
  expect(skipped).toHaveLength(100)
})
