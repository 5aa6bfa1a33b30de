import { beforeAll, expect, test } from 'vitest'
import { emptySettings } from '../contract/manager-settings.ts'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { checkControllerNames, selectControllers } from './select-controllers.ts'
import { buildManagerRbac } from './rbac.ts'
import { controllers } from './table.ts'
import { createFastTimeBench } from './testing/fast-time-bench.ts'
import { buildHostEtcd, FakeHosts } from './testing/fake-hosts.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})

const defaultControllers = selectControllers(controllers, ['*'])

test('names are unique, and controllers with wide rules are off by default', () => {
  checkControllerNames(controllers)
  expect(defaultControllers.map(({ name }) => name)).toEqual([
    ...[
      'version-skew',
      'kubelet-serving-approver',
      'certificate-renewal',
      'etcd-maintenance',
      'snapshot-schedule',
    ],
    ...['node-conditions', 'addon-drift', 'cluster-status'],
  ])
  const rbac = JSON.stringify(buildManagerRbac(defaultControllers))
  expect(rbac).not.toContain('"*"')
  expect(rbac).not.toContain('secrets')
})

test('all default controllers together write their state once, and then nothing for an hour', async () => {
  const settings = {
    ...emptySettings,
    snapshots: { schedule: '0 0 1 1 *', keep: { hourly: 1, daily: 1, weekly: 1 } },
  }
  await using long = await createFastTimeBench(ca, defaultControllers, { settings })
  const { cluster, authorizer } = long.bench
  const hosts = new FakeHosts(cluster, long.now)
  const names = ['cp1', 'cp2', 'cp3']
  const snapshots = [{ name: 'etcd-2026-01-01T00-00-00Z.db', takenAt: '2026-01-01T00:00:00.000Z', size: 1 }]
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
    hosts.add(name, { etcd: buildHostEtcd(name, names), certificates, snapshots })
  }
  const manager = await long.start('m')
  await long.advanceMinutes(5, manager, () => hosts.sendHeartbeats())
  const before = cluster.controllerWrites.length
  // The initial writes: conditions of hosts and nodes, and the cluster status, which is created and then
  // updated.
  expect(before).toBeLessThanOrEqual(3 + 3 + 2 + 2)
  await long.advanceMinutes(60, manager, () => hosts.sendHeartbeats())
  expect(cluster.controllerWrites.slice(before)).toEqual([])
  expect(authorizer.refused).toEqual([])
})
