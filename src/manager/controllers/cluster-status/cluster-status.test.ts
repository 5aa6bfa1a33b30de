import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../../../kit/testing/test-ca.ts'
import { clusterStatusKind } from '../../../kube/cluster-status.ts'
import { type FastTimeBench, createFastTimeBench } from '../../testing/fast-time-bench.ts'
import { FakeHosts } from '../../testing/fake-hosts.ts'
import { waitUntil } from '../../testing/manager-bench.ts'
import { clusterStatusController } from './cluster-status.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})

const path = '/apis/hyperkube.dev/v1/clusterstatuses/cluster'

function readStatus({ bench }: FastTimeBench) {
  const object = bench.cluster.objects.get(path)
  return object === undefined ? undefined : clusterStatusKind.schema.parse(object).status
}

function putNode({ bench }: FastTimeBench, name: string, ready = 'True'): void {
  const conditions = [{ type: 'Ready', status: ready, reason: '', message: '' }]
  bench.cluster.putNode(name, 'v1.37.1')
  bench.cluster.objects.change(`/api/v1/nodes/${name}`, { status: { conditions } })
}

test('one object has the status of the cluster, through failed writes, with exactly the RBAC rules of the definition', async () => {
  await using long = await createFastTimeBench(ca, [clusterStatusController])
  const { cluster, authorizer } = long.bench
  const hosts = new FakeHosts(cluster, long.now)
  for (const name of ['a', 'b', 'c']) putNode(long, name)
  for (const name of ['a', 'b', 'c']) hosts.add(name)
  let failuresLeft = 3
  cluster.intercept = ({ method, impersonatedUser }) => {
    if (method === 'GET' || impersonatedUser === undefined || failuresLeft === 0) return undefined
    failuresLeft--
    if (failuresLeft === 1) cluster.objects.cutWatches()
    return failuresLeft === 2
      ? { cut: 'before' }
      : { status: 500, json: { kind: 'Status', reason: 'InternalError' } }
  }
  const manager = await long.start('m')
  await long.advanceMinutes(3, manager, () => hosts.sendHeartbeats())
  await waitUntil('it to be written', () => readStatus(long) !== undefined)
  expect(readStatus(long)).toMatchObject({
    state: 'healthy',
    nodes: { all: 3, ready: 3 },
    hosts: { all: 3, reporting: 3 },
  })
  const before = readStatus(long)?.since
  putNode(long, 'c', 'False')
  await long.advanceMinutes(1, manager, () => hosts.sendHeartbeats())
  await waitUntil('it to be degraded', () => readStatus(long)?.state === 'degraded')
  expect(readStatus(long)?.since).not.toBe(before)
  await long.advanceMinutes(12, manager, () => hosts.sendHeartbeats('b'))
  expect(readStatus(long)?.hosts).toMatchObject({ all: 3, reporting: 2 })
  // A user overwrites the status.
  cluster.objects.change(path, { status: { state: 'healthy' } })
  await long.advanceMinutes(1, manager, () => hosts.sendHeartbeats('b'))
  await waitUntil('it to be corrected', () => readStatus(long)?.state === 'degraded')
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('on a healthy cluster it is written once, independent of heartbeats and leader changes', async () => {
  await using long = await createFastTimeBench(ca, [clusterStatusController])
  const { cluster } = long.bench
  const hosts = new FakeHosts(cluster, long.now)
  for (const name of ['a', 'b', 'c']) {
    putNode(long, name)
    hosts.add(name)
  }
  const first = await long.start('m')
  await long.advanceMinutes(60, first, () => hosts.sendHeartbeats())
  expect(cluster.controllerWrites).toHaveLength(2)
  first.stop.abort()
  await first.result
  const second = await long.start('n')
  await waitUntil('n to lead', () => cluster.holder === 'n_1')
  await long.advanceMinutes(10, second, () => hosts.sendHeartbeats())
  expect(cluster.controllerWrites).toHaveLength(2)
})
