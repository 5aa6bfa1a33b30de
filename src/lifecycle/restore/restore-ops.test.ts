import { expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { clusterWith, planInput } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import { opsAfterStops, opsOfRestore } from './restore-ops.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)
const { plans } = planCluster(planInput(cluster), [])

function planOf(host: string): NodePlan {
  const found = plans.find((plan) => plan.host === host)
  if (found === undefined) throw new Error(`there is no plan for ${host}`)
  return found
}

function api(action: Op['action']): Op {
  const name = 'kube-apiserver.service'
  return { component: 'kube-apiserver', stage: 'api', action, target: 'service', name, because: [] }
}

const inWords = (ops: readonly Op[]): string[] => ops.map(({ action, name }) => `${action} ${name}`)

test('who acts on the API stops, etcd gets other data, and all of them start again', () => {
  const member = { plan: planOf('cp1'), ops: [], member: true }
  expect(inWords(opsOfRestore(member))).toEqual([
    'stop etcd.service',
    'stop kube-apiserver.service',
    'stop kube-controller-manager.service',
    'stop kube-scheduler.service',
    'stop hyperkube-controller-manager.service',
    'stop kubelet.service',
    'change /var/lib/etcd/data',
  ])
  expect(inWords(opsAfterStops(member))).toEqual([
    'start etcd.service',
    'start kube-apiserver.service',
    'start kube-controller-manager.service',
    'start kube-scheduler.service',
    'start hyperkube-controller-manager.service',
    'start kubelet.service',
  ])
})

test('a worker keeps all but its kubelet', () => {
  const worker = { plan: planOf('w1'), ops: [], member: false }
  expect(inWords([...opsOfRestore(worker), ...opsAfterStops(worker)])).toEqual([
    'stop kubelet.service',
    'start kubelet.service',
  ])
})

test('who restarts anyway starts once, and what was never there does not stop', () => {
  const changed = { plan: planOf('cp1'), ops: [api('restart')], member: true }
  expect(inWords(opsAfterStops(changed))).not.toContain('start kube-apiserver.service')
  const fresh = { plan: planOf('cp1'), ops: [api('create'), api('start')], member: true }
  expect(inWords(opsOfRestore(fresh))).not.toContain('stop kube-apiserver.service')
  expect(inWords(opsAfterStops(fresh)).filter((line) => line.includes('apiserver.'))).toEqual([
    'create kube-apiserver.service',
    'start kube-apiserver.service',
  ])
})
