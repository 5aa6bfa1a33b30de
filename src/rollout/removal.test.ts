import { expect, test } from 'vitest'
import { describeStep } from './describe.ts'
import { buildHostPlan, buildRolloutInput, toLiveHosts, buildPlans } from './testing/fixtures.ts'
import type { RemovedHost, LiveHosts } from './input.ts'
import { planRollout } from './rollout.ts'

const controlPlane = { member: true, controlPlane: true, node: true }
const worker = { member: false, controlPlane: false, node: true }

function withLive(live: LiveHosts, removed: readonly RemovedHost[], plans = buildPlans(2)) {
  const names = removed.map(({ host }) => host)
  const voters = removed.filter(({ live: is }) => is.member).map(({ host }) => host)
  return planRollout(
    buildRolloutInput({
      plans,
      ops: new Map(),
      live: { ...live, etcd: [...live.etcd, ...voters], nodes: [...live.nodes, ...names] },
      removedHosts: removed,
    }),
  )
}

test('removed hosts are removed one by one, workers first, and etcd members only while the others are healthy', () => {
  const { steps, findings } = withLive(toLiveHosts(buildPlans(2)), [
    { host: 'cp0', reachable: true, live: controlPlane },
    { host: 'w9', reachable: true, live: worker },
  ])
  expect(findings).toEqual([])
  expect(steps.map(describeStep)).toEqual([
    'remove w9, drained first, everything of hyperkube deleted',
    'remove cp0, drained first, removed from etcd, everything of hyperkube deleted, while etcd is healthy on cp1, cp2 and cp3',
  ])
})

test('an unreachable etcd member is removed before its replacement joins', () => {
  const plans = buildPlans(0)
  const live = toLiveHosts(plans.slice(0, 2))
  const { steps, findings } = withLive(live, [{ host: 'cp9', reachable: false, live: controlPlane }], plans)
  expect(findings.map(({ code, host }) => `${code} ${host}`)).toEqual(['ROLLOUT_REMOVED_UNREACHABLE cp9'])
  expect(steps.map(describeStep)).toEqual([
    'remove cp9, removed from etcd, not reset, because the host is unreachable',
    'etcd on cp3, while etcd is healthy on cp1 and cp2',
  ])
})

test('a new etcd member joins before a reachable one is removed', () => {
  const plans = [...buildPlans(0), buildHostPlan('cp4', ['control-plane', 'etcd'])]
  const { steps } = withLive(
    toLiveHosts(buildPlans(0)),
    [{ host: 'cp0', reachable: true, live: controlPlane }],
    plans,
  )
  expect(steps.map(describeStep)).toEqual([
    'etcd on cp4, while etcd is healthy on cp0, cp1 and 2 more',
    expect.stringMatching(/^remove cp0,.* healthy on cp1, cp2 and 2 more$/),
  ])
})

test('no member is removed if too few healthy members would remain', () => {
  const plans = buildPlans(0).slice(0, 1)
  const { steps, findings } = planRollout(
    buildRolloutInput({
      plans: [],
      ops: new Map(),
      live: { etcd: ['cp1', 'cp2'], controlPlanes: ['cp1', 'cp2'], nodes: ['cp1', 'cp2'] },
      unreachable: plans.map(({ host }) => host),
      desiredRoles: new Map([['cp1', controlPlane]]),
      removedHosts: [{ host: 'cp2', reachable: true, live: controlPlane }],
    }),
  )
  expect(steps).toEqual([])
  expect(findings[0]).toMatchObject({ code: 'ROLLOUT_QUORUM' })
})
