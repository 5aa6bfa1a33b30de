import { expect, test } from 'vitest'
import type { NodePlan } from '../contract/node-plan.ts'
import { diffPlan } from '../diff/diff.ts'
import { resourcesAfterApply } from '../diff/plan-resources.ts'
import { planCluster } from '../plan/plan.ts'
import { buildPlanInput, parseTestCluster } from '../plan/testing/fixtures.ts'
import { describeStep } from './describe.ts'
import { planRollout } from './rollout.ts'
import { buildRolloutInput, toLiveHosts } from './testing/fixtures.ts'

const held = 'heldUpgrade: { to: "1.37.1", since: "2026-11-17T20:00:00Z" }'

function plan(kubernetes: string, more = ''): readonly NodePlan[] {
  const { plans, findings } = planCluster(
    buildPlanInput(
      parseTestCluster(`
apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: x }
spec:
  kubernetes: ${kubernetes}
  ${more}
  hosts:
    - { name: cp1, address: 192.0.2.1, roles: [control-plane] }
    - { name: cp2, address: 192.0.2.2, roles: [control-plane] }
    - { name: cp3, address: 192.0.2.3, roles: [control-plane] }
    - { name: w1, address: 192.0.2.11, roles: [worker] }`),
    ),
  )
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  return plans
}

function change(before: readonly NodePlan[], after: readonly NodePlan[]) {
  const ops = new Map(
    after.map((one) => {
      const previous = before.find(({ host }) => host === one.host)
      return [one.host, diffPlan(one, previous === undefined ? [] : resourcesAfterApply(previous))]
    }),
  )
  const { steps, findings } = planRollout(
    buildRolloutInput({ plans: after, live: toLiveHosts(before), ops, currentKubelets: new Map() }),
  )
  expect(findings).toEqual([])
  return { ops, steps: steps.map(describeStep) }
}

const controlPlaneSteps = [
  'API server on cp1, while the API servers of cp2 and cp3 are ready',
  'API server on cp2, while the API servers of cp1 and cp3 are ready',
  'API server on cp3, while the API servers of cp1 and cp2 are ready',
  'controllers on cp1',
  'controllers on cp2',
  'controllers on cp3',
]

test('a hold and its rollback change only API servers and controllers, one control plane after the other', () => {
  expect(change(plan('1.36.4'), plan('1.36.4', held)).steps).toEqual(controlPlaneSteps)
  expect(change(plan('1.36.4', held), plan('1.36.4')).steps).toEqual(controlPlaneSteps)
})

test('a rollback downloads nothing', () => {
  const { ops } = change(plan('1.36.4', held), plan('1.36.4'))
  const artifacts = [...ops.values()].flat().filter(({ target }) => target === 'artifact')
  expect(new Set(artifacts.map(({ action, name }) => `${action} ${name}`))).toEqual(
    new Set(
      ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) => `remove ${name}-1.37.1`),
    ),
  )
})

test('another up during the hold changes nothing', () => {
  expect(change(plan('1.36.4', held), plan('1.36.4', held)).steps).toEqual([])
})

test('a confirmation upgrades etcd and nodes too, and ends emulation', () => {
  const { steps } = change(plan('1.36.4', held), plan('1.37.1'))
  expect(steps[0]).toMatch(/^etcd and API server on cp1/)
  expect(steps.filter((text) => text.includes('kubelet'))).toHaveLength(4)
  const units = (plans: readonly NodePlan[]) => JSON.stringify(plans.map(({ components }) => components))
  expect(units(plan('1.36.4', held)).match(/--emulated-version=1\.36/g)).toHaveLength(9)
  expect(units(plan('1.37.1'))).not.toContain('emulated-version')
})
