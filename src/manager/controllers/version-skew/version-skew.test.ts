import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import type { Ending } from '../../../kube/election.ts'
import { soon, stage } from '../../testing/manager-bench.ts'
import { versionSkew } from './version-skew.ts'

let authority: TestAuthority

beforeAll(async () => {
  authority = await testAuthority()
})

test('a leader tells of a kubelet that does not fit, with the rights of the table, all of them and no others', async () => {
  await using one = await stage(authority, [versionSkew])
  const { cluster, authorizer } = one
  cluster.putNode('good', 'v1.36.4')
  cluster.putNode('old', 'v1.33.9')
  const manager = await one.start('a')
  await soon('an event', () => cluster.events.length > 0)
  expect(cluster.events).toMatchObject([
    {
      reason: 'VersionSkew',
      reportingController: 'hyperkube.dev/version-skew',
      reportingInstance: 'a_1',
      note: 'kubelet v1.33.9 is more than three minor versions behind API server v1.37.1',
      regarding: { kind: 'Node', name: 'old', uid: 'uid-old' },
    },
  ])
  const status = async (): Promise<string> => (await manager.ask('/metrics')).text
  expect(await status()).toContain('hyperkube_nodes_by_version_skew{kubelet="v1.33.9",skew="too-old"} 1\n')
  expect(await status()).toContain('leader_election_master_status{name="hyperkube-controller-manager"} 1\n')
  expect(await status()).toContain('workqueue_depth{name="version-skew"} 0\n')
  cluster.putNode('good', 'v1.38.0')
  await soon('another event', () => cluster.events.length > 1)
  expect(cluster.events[1]).toMatchObject({
    note: 'kubelet v1.38.0 must not be newer than API server v1.37.1',
  })
  // What is said again is counted.
  cluster.putNode('good', 'v1.37.1')
  cluster.putNode('good', 'v1.38.0')
  await soon('it to be counted', () => cluster.events.length > 2)
  expect(cluster.events[2]).toMatchObject({ series: { count: 2 } })
  manager.stop.abort()
  expect(await manager.ending).toBe<Ending>('stopped')
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('on a healthy cluster nothing is written but the lease', async () => {
  await using one = await stage(authority, [versionSkew])
  for (let number = 0; number < 50; number++) one.cluster.putNode(`n${number}`, 'v1.37.1')
  const manager = await one.start('a')
  await soon('all nodes to be looked at', async () =>
    (await manager.ask('/metrics')).text.includes(
      'workqueue_work_duration_seconds_count{name="version-skew"} 51\n',
    ),
  )
  expect(one.cluster.writes.filter((write) => !write.includes('/leases'))).toEqual([])
})

test('a controller can do nothing that its row does not say, and goes on trying', async () => {
  await using one = await stage(authority, [{ ...versionSkew, rights: [] }])
  one.cluster.putNode('old', 'v1.33.9')
  const manager = await one.start('a')
  await soon('it to be refused', () => one.authorizer.refused.length > 1)
  expect(one.authorizer.refused[0]).toMatchObject({
    user: 'hyperkube:controller:version-skew',
    resource: '/version',
  })
  expect(manager.lines.join('\n')).toContain('version-skew: it failed once: GET /version')
  expect(one.cluster.events).toEqual([])
})
