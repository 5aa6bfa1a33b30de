import { expect, test } from 'vitest'
import type { NodePlan } from '../contract/node-plan.ts'
import { diffPlan } from '../diff/diff.ts'
import { resourcesAfterApply } from '../diff/plan-resources.ts'
import { parseTestCluster, buildPlanInput } from '../plan/testing/fixtures.ts'
import { planCluster } from '../plan/plan.ts'
import { describeStep } from './describe.ts'
import { buildRolloutInput, toLiveHosts } from './testing/fixtures.ts'
import { planRollout } from './rollout.ts'

/** Plans a cluster of this Kubernetes version. */
function planVersion(kubernetes: string, ...more: readonly string[]): readonly NodePlan[] {
  return planCluster(
    buildPlanInput(
      parseTestCluster(`
apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: x }
spec:
  kubernetes: ${kubernetes}
  hosts:
    - { name: cp1, address: 192.0.2.1, roles: [control-plane] }
    - { name: cp2, address: 192.0.2.2, roles: [control-plane] }
    - { name: cp3, address: 192.0.2.3, roles: [control-plane] }
    - { name: w1, address: 192.0.2.11, roles: [worker] }
    - { name: w2, address: 192.0.2.12, roles: [worker] }
${more.map((host) => `    - ${host}`).join('\n')}`),
    ),
  ).plans
}

function change(before: readonly NodePlan[], after: readonly NodePlan[]): string[] {
  const old = new Map(before.map((plan) => [plan.host, plan]))
  const { steps, findings } = planRollout(
    buildRolloutInput({
      plans: after,
      live: toLiveHosts(before),
      ops: new Map(
        after.map((plan) => {
          const previous = old.get(plan.host)
          return [plan.host, diffPlan(plan, previous === undefined ? [] : resourcesAfterApply(previous))]
        }),
      ),
      currentKubelets: new Map(
        before.map(({ host, components }) => [
          host,
          components.find(({ name }) => name === 'kubelet')?.version ?? '',
        ]),
      ),
    }),
  )
  expect(findings).toEqual([])
  return steps.map(describeStep)
}

test('the bootstrap of a real plan has three steps', () => {
  expect(change([], planVersion('1.36.4'))).toEqual([
    'preparation on 5 hosts (cp1, cp2 and 3 more)',
    'etcd and API server on cp1, cp2 and cp3',
    'controllers, kubelet and network on 5 hosts (cp1, cp2 and 3 more)',
  ])
})

test('an unchanged plan has no steps', () => {
  expect(change(planVersion('1.36.4'), planVersion('1.36.4'))).toEqual([])
})

test('an upgrade to a new minor changes control planes one by one, then drains each node', () => {
  const steps = change(planVersion('1.36.4'), planVersion('1.37.1'))
  const quorum = (host: string) => `while 2 of 3 etcd members are healthy without ${host}`
  expect(steps).toEqual([
    `etcd and API server on cp1, ${quorum('cp1')}, while the API servers of cp2 and cp3 are ready`,
    `etcd and API server on cp2, ${quorum('cp2')}, while the API servers of cp1 and cp3 are ready`,
    `etcd and API server on cp3, ${quorum('cp3')}, while the API servers of cp1 and cp2 are ready`,
    'controllers on cp1',
    'controllers on cp2',
    'controllers on cp3',
    'kubelet and network on cp1, drained first',
    'kubelet and network on cp2, drained first',
    'kubelet and network on cp3, drained first',
    'kubelet and network on w1, drained first',
    'kubelet and network on w2, drained first',
  ])
})

test('an additional worker disrupts no other host', () => {
  const more = planVersion('1.36.4', '{ name: w3, address: 192.0.2.13, roles: [worker] }')
  expect(change(planVersion('1.36.4'), more)).toEqual(['preparation on w3', 'kubelet and network on w3'])
})

test('an additional control plane joins etcd, and no existing etcd member restarts', () => {
  const more = planVersion('1.36.4', '{ name: cp4, address: 192.0.2.4, roles: [control-plane] }')
  const steps = change(planVersion('1.36.4'), more)
  expect(steps.slice(0, 2)).toEqual([
    'preparation on cp4',
    'etcd on cp4, while etcd is healthy on cp1, cp2 and cp3',
  ])
  expect(steps.filter((text) => text.startsWith('etcd')).slice(1)).toEqual([])
})
