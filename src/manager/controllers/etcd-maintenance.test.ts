import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import { createFastTimeBench } from '../testing/fast-time-bench.ts'
import { buildHostEtcd, mebibyte, FakeHosts } from '../testing/fake-hosts.ts'
import { waitUntil } from '../testing/manager-bench.ts'
import { etcdMaintenance } from './etcd-maintenance.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})

const names = ['cp1', 'cp2', 'cp3']
const reclaimable = { size: 900 * mebibyte, inUse: 100 * mebibyte }

test('members are defragmented one after the other, through failed writes, with exactly the RBAC rules of the definition', async () => {
  await using long = await createFastTimeBench(ca, [etcdMaintenance])
  const { cluster, authorizer } = long.bench
  const hosts = new FakeHosts(cluster, long.now)
  for (const name of names) hosts.add(name, { etcd: buildHostEtcd(name, names, reclaimable) })
  let conflicts = 3
  cluster.intercept = ({ method, path }) => {
    if (method !== 'PATCH' || !path.includes('/hosts/') || conflicts === 0) return undefined
    conflicts--
    if (conflicts === 1) cluster.objects.cutWatches()
    return conflicts === 2 ? { cut: 'before' } : { status: 409, json: { kind: 'Status', reason: 'Conflict' } }
  }
  const manager = await long.start('a')
  const order: string[] = []
  for (let round = 0; round < 3; round++) {
    await waitUntil('a member to be requested', async () => {
      await long.advanceMinutes(1, manager, () => hosts.sendHeartbeats())
      return names.some((name) => hosts.requestIds(name).length > 0 && !order.includes(name))
    })
    const requested = names.filter((name) => hosts.requestIds(name).length > 0 && !order.includes(name))
    expect(requested).toHaveLength(1)
    const [name = ''] = requested
    expect(hosts.respond(name, 'done', { etcd: buildHostEtcd(name, names) })).toEqual([
      '{"type":"defragment-etcd"}',
    ])
    order.push(name)
  }
  expect(order).toEqual(['cp2', 'cp3', 'cp1'])
  // From now on all hosts except cp3 send heartbeats.
  await long.advanceMinutes(12, manager, () => hosts.sendHeartbeats('cp3'))
  expect(cluster.events[0]).toMatchObject({
    reason: 'EtcdMemberUnreachable',
    note: expect.stringContaining('cp3'),
  })
  await long.advanceMinutes(12, manager, () => hosts.sendHeartbeats('cp3'))
  expect(cluster.events.length).toBeGreaterThan(1)
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('the leader is defragmented last, also when it is the first to report reclaimable space', async () => {
  await using long = await createFastTimeBench(ca, [etcdMaintenance])
  const hosts = new FakeHosts(long.bench.cluster, long.now)
  for (const name of names)
    hosts.add(name, { etcd: buildHostEtcd(name, names, name === 'cp1' ? reclaimable : {}) })
  const manager = await long.start('a')
  const firstCheck =
    /^controller_runtime_reconcile_total\{controller="etcd-maintenance",result="requeue_after"\} [1-9]/m
  await waitUntil('a first check', async () => firstCheck.test((await manager.get('/metrics')).text))
  for (const name of names) hosts.add(name, { etcd: buildHostEtcd(name, names, reclaimable) })
  await long.advanceMinutes(3, manager, () => hosts.sendHeartbeats())
  expect(names.filter((name) => hosts.requestIds(name).length > 0)).toEqual(['cp2'])
})

test('on a healthy cluster nothing is written', async () => {
  await using long = await createFastTimeBench(ca, [etcdMaintenance])
  const hosts = new FakeHosts(long.bench.cluster, long.now)
  for (const name of names) hosts.add(name, { etcd: buildHostEtcd(name, names) })
  hosts.add('w1')
  const manager = await long.start('a')
  await long.advanceMinutes(60, manager, () => hosts.sendHeartbeats())
  expect(long.bench.cluster.controllerWrites).toEqual([])
})
