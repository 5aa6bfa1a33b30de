import { beforeAll, expect, test } from 'vitest'
import { emptySettings, type ManagerSettings } from '../../contract/manager-settings.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { buildHostEtcd, FakeHosts } from '../testing/fake-hosts.ts'
import { createFastTimeBench } from '../testing/fast-time-bench.ts'
import { waitUntil } from '../testing/manager-bench.ts'
import { formatScheduledSnapshotName, snapshotSchedule } from './snapshot-schedule.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})

const names = ['cp1', 'cp2']
const settings: ManagerSettings = {
  ...emptySettings,
  snapshots: { schedule: '30 * * * *', keep: { hourly: 2, daily: 1, weekly: 1 } },
}
const buildSnapshot = (text: string) => ({
  name: formatScheduledSnapshotName(new Date(text)),
  takenAt: new Date(text).toISOString(),
  size: 1,
})

test('a due snapshot is requested once, after a failure from another host, with exactly the RBAC rules of the definition', async () => {
  await using long = await createFastTimeBench(ca, [snapshotSchedule], { settings })
  const { cluster, authorizer } = long.bench
  const hosts = new FakeHosts(cluster, long.now)
  const had = [buildSnapshot('2026-11-16T07:30Z')]
  for (const name of names) hosts.add(name, { etcd: buildHostEtcd(name, names), snapshots: had })
  const first = await long.start('a')
  await long.advanceMinutes(28, first, () => hosts.sendHeartbeats())
  expect(cluster.controllerWrites).toEqual([])
  await long.advanceMinutes(4, first, () => hosts.sendHeartbeats())
  await waitUntil('the request to cp2', () => hosts.requestIds('cp2').length === 1)
  expect(hosts.requestIds('cp2')).toEqual(['snapshot-schedule.20261116t0830'])
  // A second manager becomes the leader and must not send a second request.
  first.stop.abort()
  await first.result
  const second = await long.start('b')
  await waitUntil('b to lead', () => cluster.holder === 'b_1')
  await long.advanceMinutes(2, second, () => hosts.sendHeartbeats())
  expect(hosts.requestIds('cp2')).toEqual(['snapshot-schedule.20261116t0830'])
  hosts.respond('cp2', 'failed')
  await waitUntil('the request to cp1', () => hosts.requestIds('cp1').length === 1)
  expect(hosts.respond('cp1', 'failed')).toEqual([
    '{"type":"take-snapshot","name":"etcd-2026-11-16T08-30-00Z.db","remove":[]}',
  ])
  await waitUntil('the event', () => cluster.events.length > 0)
  expect(cluster.events[0]).toMatchObject({ reason: 'SnapshotMissing' })
  await long.advanceMinutes(12, second, () => hosts.sendHeartbeats())
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test.each([
  ['no schedule is set', emptySettings],
  ['the due snapshot exists', settings],
])('nothing is written if %s', async (_what, desired) => {
  await using long = await createFastTimeBench(ca, [snapshotSchedule], { settings: desired })
  const hosts = new FakeHosts(long.bench.cluster, long.now)
  const snapshots = [buildSnapshot('2026-11-16T07:30Z'), buildSnapshot('2026-11-16T08:30Z')]
  for (const name of names) hosts.add(name, { etcd: buildHostEtcd(name, names), snapshots })
  const manager = await long.start('a')
  await long.advanceMinutes(60, manager, () => hosts.sendHeartbeats())
  expect(long.bench.cluster.controllerWrites).toEqual([])
})
