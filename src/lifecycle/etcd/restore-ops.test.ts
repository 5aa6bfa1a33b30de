import { expect, test } from 'vitest'
import type { EtcdRestoreProgress } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import {
  checkUnfinishedRestore,
  findRestoreToResume,
  listHostsWithData,
  listOpsAfterRestore,
  listRestoreOps,
} from './restore-ops.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)
const { plans } = planCluster(buildPlanInput(cluster), [])

function findPlan(host: string): NodePlan {
  const found = plans.find((plan) => plan.host === host)
  if (found === undefined) throw new Error(`there is no plan for ${host}`)
  return found
}

function api(action: Op['action']): Op {
  const name = 'kube-apiserver.service'
  return { component: 'kube-apiserver', stage: 'api', action, target: 'service', name, because: [] }
}

const formatOps = (ops: readonly Op[]): string[] => ops.map(({ action, name }) => `${action} ${name}`)

test('a restore stops the components that use the API, replaces the etcd data and starts them again', () => {
  const member = { plan: findPlan('cp1'), ops: [], member: true }
  expect(formatOps(listRestoreOps(member))).toEqual([
    'stop etcd.service',
    'stop kube-apiserver.service',
    'stop kube-controller-manager.service',
    'stop kube-scheduler.service',
    'stop hyperkube-controller-manager.service',
    'stop kubelet.service',
    'change /var/lib/etcd/data',
  ])
  expect(formatOps(listOpsAfterRestore(member))).toEqual([
    'start etcd.service',
    'start kube-apiserver.service',
    'start kube-controller-manager.service',
    'start kube-scheduler.service',
    'start hyperkube-controller-manager.service',
    'start kubelet.service',
  ])
})

test('a restore stops only the kubelet of a worker', () => {
  const worker = { plan: findPlan('w1'), ops: [], member: false }
  expect(formatOps([...listRestoreOps(worker), ...listOpsAfterRestore(worker)])).toEqual([
    'stop kubelet.service',
    'start kubelet.service',
  ])
})

test('a service that restarts anyway starts once, and a new one does not stop', () => {
  const changed = { plan: findPlan('cp1'), ops: [api('restart')], member: true }
  expect(formatOps(listOpsAfterRestore(changed))).not.toContain('start kube-apiserver.service')
  const fresh = { plan: findPlan('cp1'), ops: [api('create'), api('start')], member: true }
  expect(formatOps(listRestoreOps(fresh))).not.toContain('stop kube-apiserver.service')
  expect(formatOps(listOpsAfterRestore(fresh)).filter((line) => line.includes('apiserver.'))).toEqual([
    'create kube-apiserver.service',
    'start kube-apiserver.service',
  ])
})

const first = '11111111-1111-4111-8111-111111111111'
const second = '22222222-2222-4222-8222-222222222222'
const spec = { snapshot: 'a'.repeat(64), members: ['cp1=https://10.0.0.1:2380', 'cp2=https://10.0.0.2:2380'] }

function buildProgress(
  id: string,
  state: EtcdRestoreProgress['state'],
  more: Partial<EtcdRestoreProgress> = {},
): EtcdRestoreProgress {
  return { id, ...spec, state, ...more }
}

test('without an unfinished restore there is no finding', () => {
  expect(checkUnfinishedRestore(new Map())).toEqual([])
})

test('an unfinished restore is an error that lists hosts with and without data', () => {
  const [finding] = checkUnfinishedRestore(
    new Map([
      ['cp1', buildProgress(first, 'data-restored')],
      ['cp2', buildProgress(first, 'begun')],
    ]),
  )
  expect(finding).toMatchObject({
    code: 'ETCD_RESTORE_UNFINISHED',
    severity: 'error',
    message: 'an etcd restore was started and is not finished: data restored on cp1, begun on cp2',
  })
})

test('the same restore resumes with its id, and members with its data are listed', () => {
  const restores = new Map([
    ['cp1', buildProgress(first, 'data-restored')],
    ['cp2', buildProgress(first, 'begun')],
  ])
  expect(findRestoreToResume(restores, spec)).toEqual({ id: first, ...spec })
  expect([...listHostsWithData(restores, first)]).toEqual(['cp1'])
  expect([...listHostsWithData(restores, second)]).toEqual([])
})

test.each([
  ['no restore is unfinished', new Map<string, EtcdRestoreProgress>()],
  [
    'the unfinished restore is of another snapshot',
    new Map([['cp1', buildProgress(first, 'data-restored', { snapshot: 'b'.repeat(64) })]]),
  ],
  [
    'the unfinished restore has other members',
    new Map([['cp1', buildProgress(first, 'data-restored', { members: spec.members.slice(1) })]]),
  ],
  [
    'two restores are unfinished',
    new Map([
      ['cp1', buildProgress(first, 'data-restored')],
      ['cp2', buildProgress(second, 'data-restored')],
    ]),
  ],
])('no restore is resumed if %s', (_why, restores) => {
  expect(findRestoreToResume(restores, spec)).toBeUndefined()
})
