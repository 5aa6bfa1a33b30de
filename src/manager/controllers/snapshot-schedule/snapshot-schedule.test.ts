import { beforeAll, expect, test } from 'vitest'
import { type ManagerSettings, noSettings } from '../../../contract/manager-settings.ts'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import { hours } from '../../testing/fast-time-bench.ts'
import { etcdOf, TestHosts } from '../../testing/fake-hosts.ts'
import { soon } from '../../testing/manager-bench.ts'
import { nameFor } from './retention.ts'
import { snapshotSchedule } from './snapshot-schedule.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})

const names = ['cp1', 'cp2']
const settings: ManagerSettings = {
  ...noSettings,
  snapshots: { schedule: '30 * * * *', keep: { hourly: 2, daily: 1, weekly: 1 } },
}
const snapshotOf = (text: string) => ({
  name: nameFor(new Date(text)),
  taken: new Date(text).toISOString(),
  size: 1,
})

test('a snapshot is asked for when it is due, of another host when it fails, by whoever leads, with all rights and no others', async () => {
  await using long = await hours(authority, [snapshotSchedule], { settings })
  const { cluster, authorizer } = long.stage
  const hosts = new TestHosts(cluster, long.now)
  const had = [snapshotOf('2026-11-16T07:30Z')]
  for (const name of names) hosts.put(name, { etcd: etcdOf(name, names), snapshots: had })
  const first = await long.start('a')
  await long.pass(28, first, () => hosts.beat())
  expect(cluster.deeds).toEqual([])
  await long.pass(4, first, () => hosts.beat())
  await soon('cp2 to be asked', () => hosts.asked('cp2').length === 1)
  expect(hosts.asked('cp2')).toEqual(['snapshot-schedule.20261116t0830'])
  // Another one leads, and does not ask twice.
  first.stop.abort()
  await first.ending
  const second = await long.start('b')
  await soon('b to lead', () => cluster.holder === 'b_1')
  await long.pass(2, second, () => hosts.beat())
  expect(hosts.asked('cp2')).toEqual(['snapshot-schedule.20261116t0830'])
  hosts.answer('cp2', 'failed')
  await soon('cp1 to be asked', () => hosts.asked('cp1').length === 1)
  expect(hosts.answer('cp1', 'failed')).toEqual([
    '{"type":"take-snapshot","name":"etcd-2026-11-16T08-30-00Z.db","remove":[]}',
  ])
  await soon('it to be said', () => cluster.events.length > 0)
  expect(cluster.events[0]).toMatchObject({ reason: 'SnapshotMissing' })
  await long.pass(12, second, () => hosts.beat())
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test.each([
  ['nothing is wished', noSettings],
  ['what was due is there', settings],
])('nothing is written where %s', async (_what, wished) => {
  await using long = await hours(authority, [snapshotSchedule], { settings: wished })
  const hosts = new TestHosts(long.stage.cluster, long.now)
  const snapshots = [snapshotOf('2026-11-16T07:30Z'), snapshotOf('2026-11-16T08:30Z')]
  for (const name of names) hosts.put(name, { etcd: etcdOf(name, names), snapshots })
  const manager = await long.start('a')
  await long.pass(60, manager, () => hosts.beat())
  expect(long.stage.cluster.deeds).toEqual([])
})
