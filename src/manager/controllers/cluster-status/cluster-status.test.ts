import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import { clusterStatuses } from '../../../kube/cluster-status.ts'
import { type Hours, hours } from '../../testing/fast-time-bench.ts'
import { TestHosts } from '../../testing/fake-hosts.ts'
import { soon } from '../../testing/manager-bench.ts'
import { clusterStatusKeeper } from './cluster-status.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})

const path = '/apis/hyperkube.dev/v1/clusterstatuses/cluster'

function statusOf({ stage }: Hours) {
  const object = stage.cluster.objects.get(path)
  return object === undefined ? undefined : clusterStatuses.schema.parse(object).status
}

function putNode({ stage }: Hours, name: string, ready = 'True'): void {
  const conditions = [{ type: 'Ready', status: ready, reason: '', message: '' }]
  stage.cluster.putNode(name, 'v1.37.1')
  stage.cluster.objects.change(`/api/v1/nodes/${name}`, { status: { conditions } })
}

test('one object says how the cluster is, whatever becomes of writes, with all rights of the row and no others', async () => {
  await using long = await hours(authority, [clusterStatusKeeper])
  const { cluster, authorizer } = long.stage
  const hosts = new TestHosts(cluster, long.now)
  for (const name of ['a', 'b', 'c']) putNode(long, name)
  for (const name of ['a', 'b', 'c']) hosts.put(name)
  let trouble = 3
  cluster.intercept = ({ method, as }) => {
    if (method === 'GET' || as === undefined || trouble === 0) return undefined
    trouble--
    if (trouble === 1) cluster.objects.cutWatches()
    return trouble === 2
      ? { cut: 'before' }
      : { status: 500, json: { kind: 'Status', reason: 'InternalError' } }
  }
  const manager = await long.start('m')
  await long.pass(3, manager, () => hosts.beat())
  await soon('it to be said', () => statusOf(long) !== undefined)
  expect(statusOf(long)).toMatchObject({
    state: 'well',
    nodes: { all: 3, ready: 3 },
    hosts: { all: 3, heard: 3 },
  })
  const before = statusOf(long)?.since
  putNode(long, 'c', 'False')
  await long.pass(1, manager, () => hosts.beat())
  await soon('it to be degraded', () => statusOf(long)?.state === 'degraded')
  expect(statusOf(long)?.since).not.toBe(before)
  await long.pass(12, manager, () => hosts.beat('b'))
  expect(statusOf(long)?.hosts).toMatchObject({ all: 3, heard: 2 })
  // Somebody who thinks that they know better.
  cluster.objects.change(path, { status: { state: 'well' } })
  await long.pass(1, manager, () => hosts.beat('b'))
  await soon('it to be as it is', () => statusOf(long)?.state === 'degraded')
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('on a healthy cluster it is written once, however many signs of life there are, and by whoever leads', async () => {
  await using long = await hours(authority, [clusterStatusKeeper])
  const { cluster } = long.stage
  const hosts = new TestHosts(cluster, long.now)
  for (const name of ['a', 'b', 'c']) {
    putNode(long, name)
    hosts.put(name)
  }
  const first = await long.start('m')
  await long.pass(60, first, () => hosts.beat())
  expect(cluster.deeds).toHaveLength(2)
  first.stop.abort()
  await first.ending
  const second = await long.start('n')
  await soon('n to lead', () => cluster.holder === 'n_1')
  await long.pass(10, second, () => hosts.beat())
  expect(cluster.deeds).toHaveLength(2)
})
