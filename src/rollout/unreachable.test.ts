import { expect, test } from 'vitest'
import { isApplyStep } from './step.ts'
import {
  buildChanges,
  changeEverywhere,
  buildHostPlan,
  buildRolloutInput,
  toLiveHosts,
  buildPlans,
} from './testing/fixtures.ts'
import type { RolloutInput } from './input.ts'
import { type RolloutPlan, planRollout } from './rollout.ts'

const plans = buildPlans(10)
const live = toLiveHosts(plans)

function codes({ findings }: RolloutPlan): string[] {
  return findings.map(({ code, severity, host }) =>
    [severity, code, ...(host === undefined ? [] : [host])].join(' '),
  )
}

function without(unreachable: string[], options: Partial<RolloutInput> = {}): RolloutPlan {
  return planRollout(
    buildRolloutInput({ plans, live, ops: changeEverywhere(plans, true), unreachable, ...options }),
  )
}

/** Desired roles for hosts without a plan: control plane, etcd member and node. */
function controlPlaneRoles(...names: readonly string[]): RolloutInput['desiredRoles'] {
  return new Map(names.map((name) => [name, { member: true, controlPlane: true, node: true }]))
}

const onAll = (...stages: Parameters<typeof buildChanges>[1][]): RolloutInput['ops'] =>
  new Map(plans.map(({ host }) => [host, buildChanges(true, ...stages)]))

test('an unreachable worker is skipped and counts as unavailable', () => {
  const result = without(['w3'], { maxUnavailable: 3 })
  expect(codes(result)).toEqual(['warning ROLLOUT_WORKER_SKIPPED w3'])
  expect(result.skipped).toEqual([{ host: 'w3', reason: 'unreachable' }])
  const workers = result.steps.filter(({ hosts }) => hosts[0]?.startsWith('w'))
  expect(workers.map(({ hosts }) => hosts.length)).toEqual([2, 2, 2, 2, 1])
  expect(result.steps.flatMap(({ hosts }) => hosts)).not.toContain('w3')
})

test('more unreachable workers than maxUnavailable are an error without steps', () => {
  const result = without(['w1', 'w2'], { maxUnavailable: 1 })
  expect(codes(result)).toEqual(['error ROLLOUT_TOO_MANY_UNREACHABLE'])
  expect(result).toMatchObject({ steps: [], skipped: [] })
})

test('as many unreachable workers as maxUnavailable allow no restart of another worker', () => {
  const result = without(['w1'], { maxUnavailable: 1 })
  expect(codes(result)).toEqual(['error ROLLOUT_TOO_MANY_UNREACHABLE'])
  expect(result.findings[0]?.message).toBe(
    '1 worker is unreachable (w1); spec.rollout.maxUnavailable allows 1, so no other worker can restart',
  )
  expect(result.findings[0]?.hint).toContain('spec.rollout.maxUnavailable to 2')
})

test('as many unreachable workers as maxUnavailable allow changes that restart no worker', () => {
  const quiet = without(['w1'], { maxUnavailable: 1, ops: changeEverywhere(plans, false) })
  expect(codes(quiet)).toEqual(['warning ROLLOUT_WORKER_SKIPPED w1'])
  const elsewhere = without(['w1'], { maxUnavailable: 1, ops: onAll('api') })
  expect(codes(elsewhere)).toEqual(['warning ROLLOUT_WORKER_SKIPPED w1'])
})

test('a worker that was never part of the cluster does not count as unavailable', () => {
  const nodes = live.nodes.filter((name) => !['w8', 'w9', 'w10'].includes(name))
  const result = without(['w10', 'w8', 'w9', 'x'], { maxUnavailable: 1, live: { ...live, nodes } })
  expect(codes(result)).toEqual([
    'warning ROLLOUT_WORKER_SKIPPED w10',
    'warning ROLLOUT_WORKER_SKIPPED w8',
    'warning ROLLOUT_WORKER_SKIPPED w9',
    'warning ROLLOUT_WORKER_SKIPPED x',
  ])
})

test('at bootstrap workers may be unreachable, etcd members may not', () => {
  const bootstrap = { live: toLiveHosts([]), ops: changeEverywhere(plans, false) }
  expect(codes(without(['w1'], bootstrap))).toEqual(['warning ROLLOUT_WORKER_SKIPPED w1'])
  expect(codes(without(['w1', 'w2'], bootstrap))).toEqual(['error ROLLOUT_TOO_MANY_UNREACHABLE'])
  expect(codes(without(['cp2'], bootstrap))).toEqual(['error ROLLOUT_QUORUM cp2'])
})

test('at bootstrap an etcd member without a plan may not be unreachable either', () => {
  const known = plans.filter(({ host }) => host !== 'cp3')
  const bootstrap = {
    plans: known,
    live: toLiveHosts([]),
    ops: changeEverywhere(known, false),
    desiredRoles: controlPlaneRoles('cp3'),
  }
  const result = without(['cp3'], bootstrap)
  expect(codes(result)).toEqual(['error ROLLOUT_QUORUM cp3'])
  expect(result.steps).toEqual([])
  expect(result.findings[0]).toMatchObject({
    message: 'unreachable, and the bootstrap needs all etcd members',
    hint: 'make cp3 reachable, or remove it from cluster.yml; then: hyperkube up',
  })
})

test('installed but stopped etcd members start although a third member is unreachable', () => {
  const known = plans.filter(({ host }) => host !== 'cp3')
  const stopped = { ...toLiveHosts(known), etcd: [], etcdInstalled: ['cp1', 'cp2'] }
  const result = without(['cp3'], {
    plans: known,
    live: stopped,
    desiredRoles: controlPlaneRoles('cp3'),
    ops: new Map(),
  })
  expect(codes(result)).toEqual(['warning ROLLOUT_CONTROL_PLANE_UNREACHABLE cp3'])
  expect(result.steps.map(({ id, hosts }) => [id, hosts])).toEqual([['etcd/cp1+1', ['cp1', 'cp2']]])
})

test('a single stopped etcd member is not started while the other two are unreachable', () => {
  const known = plans.filter(({ host }) => !['cp2', 'cp3'].includes(host))
  const stopped = { ...toLiveHosts(known), etcd: [], etcdInstalled: ['cp1'] }
  const desiredRoles = controlPlaneRoles('cp2', 'cp3')
  const result = without(['cp2', 'cp3'], { plans: known, live: stopped, desiredRoles, ops: new Map() })
  expect(codes(result)).toContain('error ROLLOUT_QUORUM')
  expect(result.steps).toEqual([])
})

test('at bootstrap control planes may not be unreachable', () => {
  const apart = [
    buildHostPlan('e1', ['etcd']),
    buildHostPlan('cp1', ['control-plane']),
    buildHostPlan('cp2', ['control-plane']),
  ]
  const bootstrap = { plans: apart, live: toLiveHosts([]), ops: changeEverywhere(apart, false) }
  expect(codes(without(['cp2'], bootstrap))).toEqual(['error ROLLOUT_CONTROL_PLANE_UNREACHABLE cp2'])
})

test('a running cluster without a known etcd member is refused', () => {
  expect(codes(without([], { live: { ...live, etcd: [] } }))).toEqual(['error ROLLOUT_QUORUM'])
})

test('etcd is not restarted while one of three members is unreachable', () => {
  const result = without(['cp3'], { ops: onAll('etcd') })
  expect(codes(result)).toContain('error ROLLOUT_QUORUM')
  expect(result.steps).toEqual([])
  expect(result.findings[0]?.message).toBe(
    'cp3 is unreachable: a restart of etcd would leave 1 of 3 members, and 2 are needed',
  )
})

test('an unreachable control plane without a plan is skipped, and the others change one at a time', () => {
  const known = plans.filter(({ host }) => host !== 'cp3')
  const restarts = buildChanges(true, 'api', 'controllers', 'node')
  const ops = new Map(['cp1', 'cp2'].map((name) => [name, restarts]))
  const result = without(['cp3'], { plans: known, desiredRoles: controlPlaneRoles('cp3'), ops })
  expect(result.findings).toEqual([
    {
      code: 'ROLLOUT_CONTROL_PLANE_UNREACHABLE',
      severity: 'warning',
      message: 'unreachable and skipped; the other hosts are changed',
      hint: 'when the host is reachable again: hyperkube up',
      host: 'cp3',
    },
  ])
  expect(result.skipped.map(({ host }) => host)).toEqual(['cp3'])
  const servers = result.steps.filter(isApplyStep).filter(({ stage }) => stage === 'api')
  expect(servers.map(({ hosts, before }) => [hosts, before])).toEqual([
    [['cp1'], [{ kind: 'api-ready', hosts: ['cp2'] }]],
    [['cp2'], [{ kind: 'api-ready', hosts: ['cp1'] }]],
  ])
  expect(result.steps.flatMap(({ hosts }) => hosts)).not.toContain('cp3')
})

test('an unreachable control plane is skipped if the change does not restart etcd', () => {
  const result = without(['cp3'], { ops: onAll('api', 'node') })
  expect(codes(result)).toEqual(['warning ROLLOUT_CONTROL_PLANE_UNREACHABLE cp3'])
  expect(result.skipped.map(({ host }) => host)).toEqual(['cp3'])
})

test('with five etcd members, one may be unreachable during a restart, two may not', () => {
  const five = ['e1', 'e2', 'e3', 'e4', 'e5'].map((name) => buildHostPlan(name, ['etcd']))
  const all = [...five, buildHostPlan('cp1', ['control-plane'])]
  const options = { plans: all, live: toLiveHosts(all), ops: changeEverywhere(five, true) }
  expect(codes(without(['e4'], options))).toEqual(['warning ROLLOUT_CONTROL_PLANE_UNREACHABLE e4'])
  expect(
    without(['e4'], options)
      .steps.filter(isApplyStep)
      .filter(({ stage }) => stage === 'etcd'),
  ).toHaveLength(4)
  expect(codes(without(['e4', 'e5'], options))).toContain('error ROLLOUT_QUORUM')
})

test('without an etcd quorum every change is refused', () => {
  expect(codes(without(['cp2', 'cp3'], { ops: onAll('network') }))).toContain('error ROLLOUT_QUORUM')
})

test('no etcd member joins while another is unreachable', () => {
  const more = [...plans, buildHostPlan('cp4', ['control-plane', 'etcd'])]
  const result = without(['cp3'], { plans: more, ops: new Map([['cp4', buildChanges(false, 'etcd')]]) })
  expect(codes(result)).toContain('error ROLLOUT_QUORUM')
  expect(result.findings[0]?.message).toBe('cp4 cannot join etcd while cp3 is unreachable')
})

test('the last reachable API server is not restarted', () => {
  const two = [
    buildHostPlan('e1', ['etcd']),
    buildHostPlan('cp1', ['control-plane']),
    buildHostPlan('cp2', ['control-plane']),
  ]
  const options = { plans: two, live: toLiveHosts(two), ops: new Map([['cp1', buildChanges(true, 'api')]]) }
  expect(codes(without(['cp2'], options))).toEqual(['error ROLLOUT_CONTROL_PLANE_UNREACHABLE cp2'])
})

test('no kubelet is upgraded to a new minor while a control plane is unreachable', () => {
  const currentKubelets = new Map([['w1', '1.36.4']])
  const result = without(['cp3'], { ops: onAll('node'), currentKubelets })
  expect(codes(result)).toEqual(['error ROLLOUT_CONTROL_PLANE_UNREACHABLE cp3'])
})

test('an unreachable host without a plan and without desired roles counts by its live role', () => {
  const known = plans.filter(({ host }) => host !== 'cp3')
  expect(codes(without(['cp3'], { plans: known, ops: onAll('etcd') }))).toContain('error ROLLOUT_QUORUM')
})

test('removing the control-plane role from a live host is refused', () => {
  const less = [...plans.filter(({ host }) => host !== 'cp3'), buildHostPlan('cp3', ['worker'])]
  expect(codes(without([], { plans: less }))).toEqual(['error ROLLOUT_ROLE_REMOVED cp3'])
})
