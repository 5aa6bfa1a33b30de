import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import { hours } from '../../testing/fast-time-bench.ts'
import { etcdOf, mebibyte, TestHosts } from '../../testing/fake-hosts.ts'
import { soon } from '../../testing/manager-bench.ts'
import { etcdKeeper } from './etcd-maintenance.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})

const names = ['cp1', 'cp2', 'cp3']
const wasteful = { size: 900 * mebibyte, inUse: 100 * mebibyte }

test('members give back space one after the other, whatever becomes of writes, with all rights of the row and no others', async () => {
  await using long = await hours(authority, [etcdKeeper])
  const { cluster, authorizer } = long.stage
  const hosts = new TestHosts(cluster, long.now)
  for (const name of names) hosts.put(name, { etcd: etcdOf(name, names, wasteful) })
  let conflicts = 3
  cluster.intercept = ({ method, path }) => {
    if (method !== 'PATCH' || !path.includes('/hosts/') || conflicts === 0) return undefined
    conflicts--
    if (conflicts === 1) cluster.objects.cutWatches()
    return conflicts === 2 ? { cut: 'before' } : { status: 409, json: { kind: 'Status', reason: 'Conflict' } }
  }
  const manager = await long.start('a')
  const order: string[] = []
  for (let turn = 0; turn < 3; turn++) {
    await soon('somebody to be asked', async () => {
      await long.pass(1, manager, () => hosts.beat())
      return names.some((name) => hosts.asked(name).length > 0 && !order.includes(name))
    })
    const under = names.filter((name) => hosts.asked(name).length > 0 && !order.includes(name))
    expect(under).toHaveLength(1)
    const [name = ''] = under
    expect(hosts.answer(name, 'done', { etcd: etcdOf(name, names) })).toEqual(['{"type":"defragment-etcd"}'])
    order.push(name)
  }
  expect(order).toEqual(['cp2', 'cp3', 'cp1'])
  // One of them goes silent.
  await long.pass(12, manager, () => hosts.beat('cp3'))
  expect(cluster.events[0]).toMatchObject({ reason: 'EtcdMemberAway', note: expect.stringContaining('cp3') })
  await long.pass(12, manager, () => hosts.beat('cp3'))
  expect(cluster.events.length).toBeGreaterThan(1)
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('whoever leads gives back space last, also when it was the first to tell of it', async () => {
  await using long = await hours(authority, [etcdKeeper])
  const hosts = new TestHosts(long.stage.cluster, long.now)
  for (const name of names) hosts.put(name, { etcd: etcdOf(name, names, name === 'cp1' ? wasteful : {}) })
  const manager = await long.start('a')
  const looked =
    /^controller_runtime_reconcile_total\{controller="etcd-keeper",result="requeue_after"\} [1-9]/m
  await soon('a first look', async () => looked.test((await manager.ask('/metrics')).text))
  for (const name of names) hosts.put(name, { etcd: etcdOf(name, names, wasteful) })
  await long.pass(3, manager, () => hosts.beat())
  expect(names.filter((name) => hosts.asked(name).length > 0)).toEqual(['cp2'])
})

test('on a healthy cluster nothing is written', async () => {
  await using long = await hours(authority, [etcdKeeper])
  const hosts = new TestHosts(long.stage.cluster, long.now)
  for (const name of names) hosts.put(name, { etcd: etcdOf(name, names) })
  hosts.put('w1')
  const manager = await long.start('a')
  await long.pass(60, manager, () => hosts.beat())
  expect(long.stage.cluster.deeds).toEqual([])
})
