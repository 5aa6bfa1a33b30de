import { beforeAll, expect, test } from 'vitest'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import type { ElectionResult } from '../../kube/election.ts'
import { createManagerBench, waitUntil } from '../testing/manager-bench.ts'
import { computeSkew, versionSkew } from './version-skew.ts'

let ca: TestCa

beforeAll(async () => {
  ca = await createTestCa()
})

test('a leader reports an unsupported kubelet, with exactly the RBAC rules of the definition', async () => {
  await using one = await createManagerBench(ca, [versionSkew])
  const { cluster, authorizer } = one
  cluster.putNode('good', 'v1.36.4')
  cluster.putNode('old', 'v1.33.9')
  const manager = await one.start('a')
  await waitUntil('an event', () => cluster.events.length > 0)
  expect(cluster.events).toMatchObject([
    {
      reason: 'VersionSkew',
      reportingController: 'hyperkube.dev/version-skew',
      reportingInstance: 'a_1',
      note: 'kubelet v1.33.9 is more than three minor versions behind API server v1.37.1',
      regarding: { kind: 'Node', name: 'old', uid: 'uid-old' },
    },
  ])
  const status = async (): Promise<string> => (await manager.get('/metrics')).text
  expect(await status()).toContain('hyperkube_nodes_by_version_skew{kubelet="v1.33.9",skew="too-old"} 1\n')
  expect(await status()).toContain('leader_election_master_status{name="hyperkube-controller-manager"} 1\n')
  expect(await status()).toContain('workqueue_depth{name="version-skew"} 0\n')
  cluster.putNode('good', 'v1.38.0')
  await waitUntil('another event', () => cluster.events.length > 1)
  expect(cluster.events[1]).toMatchObject({
    note: 'kubelet v1.38.0 must not be newer than API server v1.37.1',
  })
  // A repeated event increments the count of the series.
  cluster.putNode('good', 'v1.37.1')
  cluster.putNode('good', 'v1.38.0')
  await waitUntil('it to be counted', () => cluster.events.length > 2)
  expect(cluster.events[2]).toMatchObject({ series: { count: 2 } })
  manager.stop.abort()
  expect(await manager.result).toBe<ElectionResult>('stopped')
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('on a healthy cluster nothing is written but the lease', async () => {
  await using one = await createManagerBench(ca, [versionSkew])
  for (let number = 0; number < 50; number++) one.cluster.putNode(`n${number}`, 'v1.37.1')
  const manager = await one.start('a')
  await waitUntil('all nodes to be checked', async () =>
    (await manager.get('/metrics')).text.includes(
      'workqueue_work_duration_seconds_count{name="version-skew"} 51\n',
    ),
  )
  expect(one.cluster.writes.filter((write) => !write.includes('/leases'))).toEqual([])
})

test('a controller can do only what its definition allows, and keeps trying', async () => {
  await using one = await createManagerBench(ca, [{ ...versionSkew, rules: [] }])
  one.cluster.putNode('old', 'v1.33.9')
  const manager = await one.start('a')
  await waitUntil('it to be refused', () => one.authorizer.refused.length > 1)
  expect(one.authorizer.refused[0]).toMatchObject({
    user: 'hyperkube:controller:version-skew',
    resource: '/version',
  })
  expect(manager.lines.join('\n')).toContain('version-skew: it failed once: GET /version')
  expect(one.cluster.events).toEqual([])
})

test.each([
  ['v1.37.1', 'v1.37.1', 'supported'],
  ['v1.37.9', 'v1.37.1', 'supported'],
  ['v1.34.0', 'v1.37.1', 'supported'],
  ['v1.33.9', 'v1.37.1', 'too-old'],
  ['v1.38.0-rc.1', 'v1.37.1', 'newer'],
  ['v1.9.0', 'v1.10.3+k3s1', 'supported'],
  ['', 'v1.37.1', 'unknown'],
  ['v1.37.1', '', 'unknown'],
  ['v2.0.0', 'v1.37.1', 'unknown'],
])('a kubelet %j beside an API server %j is %s', (kubelet, server, skew) => {
  expect(computeSkew(kubelet, server)).toBe(skew)
})
