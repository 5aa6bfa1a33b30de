import { beforeAll, expect, test } from 'vitest'
import { noSettings } from '../contract/manager-settings.ts'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { checkTable, choose } from './select-controllers.ts'
import { managerObjects } from './rbac.ts'
import { controllers } from './table.ts'
import { hours } from './testing/fast-time-bench.ts'
import { etcdOf, TestHosts } from './testing/fake-hosts.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})

const usual = choose(controllers, ['*'])

test('each has a name of its own, and what may do much is off unless somebody wants it', () => {
  checkTable(controllers)
  expect(usual.map(({ name }) => name)).toEqual([
    ...[
      'version-skew',
      'kubelet-serving-approver',
      'certificate-renewal',
      'etcd-keeper',
      'snapshot-schedule',
    ],
    ...['node-keeper', 'addon-keeper', 'cluster-status'],
  ])
  const rights = JSON.stringify(managerObjects(usual))
  expect(rights).not.toContain('"*"')
  expect(rights).not.toContain('secrets')
})

test('all of them together write what is the case once, and then nothing for an hour', async () => {
  const settings = {
    ...noSettings,
    snapshots: { schedule: '0 0 1 1 *', keep: { hourly: 1, daily: 1, weekly: 1 } },
  }
  await using long = await hours(authority, usual, { settings })
  const { cluster, authorizer } = long.stage
  const hosts = new TestHosts(cluster, long.now)
  const names = ['cp1', 'cp2', 'cp3']
  const snapshots = [{ name: 'etcd-2026-01-01T00-00-00Z.db', taken: '2026-01-01T00:00:00.000Z', size: 1 }]
  const certificates = [
    {
      component: 'etcd',
      file: '/x',
      renewAfter: '2027-06-01T00:00:00.000Z',
      notAfter: '2027-11-01T00:00:00.000Z',
    },
  ]
  for (const name of names) {
    cluster.putNode(name, 'v1.37.1')
    cluster.objects.change(`/api/v1/nodes/${name}`, {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })
    hosts.put(name, { etcd: etcdOf(name, names), certificates, snapshots })
  }
  const manager = await long.start('m')
  await long.pass(5, manager, () => hosts.beat())
  const before = cluster.deeds.length
  // A condition at each host and node, and the status of the cluster, which is made and written.
  expect(before).toBeLessThanOrEqual(3 + 3 + 2 + 2)
  await long.pass(60, manager, () => hosts.beat())
  expect(cluster.deeds.slice(before)).toEqual([])
  expect(authorizer.refused).toEqual([])
})
