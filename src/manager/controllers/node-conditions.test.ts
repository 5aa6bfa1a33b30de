import { beforeAll, describe, expect, test } from 'vitest'
import type { HostStatus } from '../../contract/host-resource.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { FakeHosts, formatHostPath } from '../testing/fake-hosts.ts'
import { createFastTimeBench, type FastTimeBench } from '../testing/fast-time-bench.ts'
import { waitUntil } from '../testing/manager-bench.ts'
import { decideCordon, diskCordoner, diskSettleMs } from './disk-cordoner.ts'
import { buildNodeConditions, nodeConditions } from './node-conditions.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})

function readNode({ bench }: FastTimeBench, name: string) {
  return JSON.parse(JSON.stringify(bench.cluster.objects.get(`/api/v1/nodes/${name}`)))
}

function readConditions(long: FastTimeBench, name: string): string[] {
  const conditions: { type: string; status: string }[] = readNode(long, name).status.conditions ?? []
  return conditions.map(({ type, status }) => `${type} ${status}`)
}

const kubelets = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }
const healthy = [
  'Ready True',
  'HyperkubeAgentReady True',
  'HyperkubeHealthy True',
  'HyperkubeDiskHealthy True',
]

function putAll(long: FastTimeBench, ...names: readonly string[]): FakeHosts {
  const hosts = new FakeHosts(long.bench.cluster, long.now)
  for (const name of names) {
    long.bench.cluster.putNode(name, 'v1.37.1')
    long.bench.cluster.objects.change(`/api/v1/nodes/${name}`, { status: { conditions: [kubelets] } })
    hosts.add(name)
  }
  return hosts
}

describe('node-conditions', () => {
  test('writes host state as node conditions beside foreign conditions, with exactly the RBAC rules of the definition', async () => {
    await using long = await createFastTimeBench(ca, [nodeConditions])
    const { cluster, authorizer } = long.bench
    const hosts = putAll(long, 'a', 'b')
    cluster.putNode('foreign', 'v1.37.1')
    let failuresLeft = 2
    cluster.intercept = ({ method }) => {
      if (method !== 'PATCH' || failuresLeft === 0) return undefined
      return failuresLeft-- === 2
        ? { cut: 'before' }
        : { status: 500, json: { kind: 'Status', reason: 'InternalError' } }
    }
    const manager = await long.start('m')
    await long.advanceMinutes(2, manager, () => hosts.sendHeartbeats())
    await waitUntil(
      'both to be healthy',
      () => readConditions(long, 'a').length === 4 && readConditions(long, 'b').length === 4,
    )
    expect(readConditions(long, 'a')).toEqual(healthy)
    expect(readNode(long, 'foreign').status.conditions).toBeUndefined()
    await long.advanceMinutes(15, manager, () => hosts.sendHeartbeats('b'))
    expect(readConditions(long, 'b')).toContain('HyperkubeAgentReady Unknown')
    expect(readConditions(long, 'a')).toEqual(healthy)
    await long.advanceMinutes(4, manager, () => hosts.sendHeartbeats())
    expect(readConditions(long, 'b')).toEqual(healthy)
    cluster.objects.remove(formatHostPath('b'))
    await waitUntil('the conditions of the node to be removed', () => readConditions(long, 'b').length === 1)
    expect(readConditions(long, 'b')).toEqual(['Ready True'])
    expect(authorizer.refused).toEqual([])
    expect(authorizer.unused).toEqual([])
  })

  test('writes each node of a healthy cluster once, independent of heartbeats', async () => {
    await using long = await createFastTimeBench(ca, [nodeConditions])
    const { cluster } = long.bench
    const hosts = putAll(long, 'a', 'b', 'c')
    const manager = await long.start('m')
    await waitUntil('all to be written', () => cluster.controllerWrites.length === 3)
    await long.advanceMinutes(60, manager, () => hosts.sendHeartbeats())
    expect(cluster.controllerWrites).toHaveLength(3)
  })
})

describe('disk-cordoner', () => {
  const failing = [{ component: 'etcd', probe: 'disk', since: '2026-11-16T08:00:00.000Z', code: 'DISK_SLOW' }]

  test('is off by default, and cordons and uncordons with exactly the RBAC rules of the definition', async () => {
    expect(diskCordoner.byDefault).toBe(false)
    await using long = await createFastTimeBench(ca, [diskCordoner])
    const { cluster, authorizer } = long.bench
    const hosts = putAll(long, 'a', 'admins')
    cluster.objects.change('/api/v1/nodes/admins', { spec: { unschedulable: true } })
    const manager = await long.start('m')
    for (const name of ['a', 'admins']) hosts.change(name, { failing })
    await waitUntil('a to be cordoned', () => readNode(long, 'a').spec?.unschedulable === true)
    expect(readNode(long, 'admins').metadata.annotations).toBeUndefined()
    for (const name of ['a', 'admins']) hosts.change(name, { failing: [] })
    await long.advanceMinutes(5, manager, () => hosts.sendHeartbeats())
    expect(readNode(long, 'a').spec.unschedulable).toBe(true)
    await long.advanceMinutes(15, manager, () => hosts.sendHeartbeats())
    expect(readNode(long, 'a')).toMatchObject({
      spec: { unschedulable: false },
      metadata: { annotations: {} },
    })
    expect(readNode(long, 'admins').spec.unschedulable).toBe(true)
    expect(cluster.events).toMatchObject([{ reason: 'DiskFailing' }, { reason: 'DiskHealthy' }])
    expect(authorizer.refused).toEqual([])
    expect(authorizer.unused.filter((right) => !right.endsWith('patch events'))).toEqual([])
  })

  test('leaves a node uncordoned that a user uncordons while the disk fails', async () => {
    await using long = await createFastTimeBench(ca, [diskCordoner])
    const hosts = putAll(long, 'a')
    const manager = await long.start('m')
    hosts.change('a', { failing })
    await waitUntil('the node to be cordoned', () => readNode(long, 'a').spec?.unschedulable === true)
    long.bench.cluster.objects.change('/api/v1/nodes/a', { spec: { unschedulable: false } })
    await long.advanceMinutes(20, manager, () => hosts.sendHeartbeats())
    expect(readNode(long, 'a').spec.unschedulable).toBe(false)
  })

  test('writes nothing on a healthy cluster', async () => {
    await using long = await createFastTimeBench(ca, [diskCordoner])
    const hosts = putAll(long, 'a', 'b')
    const manager = await long.start('m')
    await long.advanceMinutes(60, manager, () => hosts.sendHeartbeats())
    expect(long.bench.cluster.controllerWrites).toEqual([])
  })
})

const since = '2026-11-16T08:00:00.000Z'
const component = (name: string, state: 'healthy' | 'unhealthy' | 'exhausted') => ({
  component: name,
  state,
  since,
})
const statuses = (status: HostStatus, silent = false): string[] =>
  buildNodeConditions(status, silent).map((one) => `${one.type} ${one.status} ${one.reason}`)

test('a healthy host has healthy conditions, and a silent host has unknown conditions', () => {
  expect(statuses({ agent: '1.0.0', components: [component('etcd', 'healthy')] })).toEqual([
    'HyperkubeAgentReady True AgentReporting',
    'HyperkubeHealthy True ComponentsHealthy',
    'HyperkubeDiskHealthy True DisksHealthy',
  ])
  expect(statuses({}, true)).toEqual([
    'HyperkubeAgentReady Unknown AgentNotReporting',
    'HyperkubeHealthy Unknown AgentNotReporting',
    'HyperkubeDiskHealthy Unknown AgentNotReporting',
  ])
})

test('unhealthy components are named, the worst first', () => {
  const components = [component('kubelet', 'unhealthy'), component('etcd', 'exhausted')]
  expect(buildNodeConditions({ components }, false)[1]).toMatchObject({
    reason: 'NeedsOperator',
    message: expect.stringContaining('etcd'),
  })
  expect(statuses({ components: [component('kubelet', 'unhealthy')], suspended: 'paused' })).toEqual([
    'HyperkubeAgentReady True HealingSuspended',
    'HyperkubeHealthy False ComponentsUnhealthy',
    'HyperkubeDiskHealthy True DisksHealthy',
  ])
  const failing = [{ component: 'etcd', probe: 'disk', since, code: 'DISK_SLOW' }]
  expect(statuses({ failing })[2]).toBe('HyperkubeDiskHealthy False DISK_SLOW')
})

const own = 'disk-cordoner'
test.each([
  ['a node with a failing disk is cordoned', { isDiskFailing: true }, 'cordon'],
  [
    'a node with a failing disk stays as it is if a user has cordoned it',
    { isDiskFailing: true, unschedulable: true },
    'nothing',
  ],
  [
    'a node with a failing disk stays as it is if the controller has cordoned it',
    { isDiskFailing: true, unschedulable: true, cordonedBy: own },
    'nothing',
  ],
  [
    'a node with a failing disk stays as it is if a user has uncordoned it',
    { isDiskFailing: true, cordonedBy: own },
    'nothing',
  ],
  ['a node with a healthy disk stays as it is', { healthyForMs: diskSettleMs }, 'nothing'],
  [
    'a cordoned node stays cordoned until its disk was healthy for the settle time',
    { unschedulable: true, cordonedBy: own, healthyForMs: diskSettleMs - 1 },
    'nothing',
  ],
  [
    'a cordoned node is uncordoned after its disk was healthy for the settle time',
    { unschedulable: true, cordonedBy: own, healthyForMs: diskSettleMs },
    'uncordon',
  ],
  [
    'the cordon annotation is removed if a user has uncordoned a node whose disk is healthy',
    { cordonedBy: own, healthyForMs: diskSettleMs },
    'forget',
  ],
  [
    'a node with a healthy disk stays as it is if a user has cordoned it',
    { unschedulable: true, healthyForMs: diskSettleMs },
    'nothing',
  ],
  [
    'a node with a healthy disk stays as it is if another controller has cordoned it',
    { unschedulable: true, cordonedBy: 'x', healthyForMs: diskSettleMs },
    'nothing',
  ],
] as const)('%s', (_what, view, action) => {
  const none = { unschedulable: false, cordonedBy: undefined, isDiskFailing: false, healthyForMs: 0 }
  expect(decideCordon({ ...none, ...view })).toBe(action)
})
