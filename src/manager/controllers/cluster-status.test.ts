import { beforeAll, expect, test } from 'vitest'
import type { HostStatus } from '../../contract/host-resource.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { clusterStatusKind } from '../../kube/cluster-status.ts'
import { buildHostEtcd, FakeHosts } from '../testing/fake-hosts.ts'
import { createFastTimeBench, type FastTimeBench } from '../testing/fast-time-bench.ts'
import { waitUntil } from '../testing/manager-bench.ts'
import { clusterStatusController, type ClusterStatusInput, summarizeCluster } from './cluster-status.ts'

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

test('the ClusterStatus is kept current through failed writes, with exactly the RBAC rules of the definition', async () => {
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
  await waitUntil('the ClusterStatus to be written', () => readStatus(long) !== undefined)
  expect(readStatus(long)).toMatchObject({
    state: 'healthy',
    nodes: { all: 3, ready: 3 },
    hosts: { all: 3, reporting: 3 },
  })
  const before = readStatus(long)?.since
  putNode(long, 'c', 'False')
  await long.advanceMinutes(1, manager, () => hosts.sendHeartbeats())
  await waitUntil('the cluster to be degraded', () => readStatus(long)?.state === 'degraded')
  expect(readStatus(long)?.since).not.toBe(before)
  await long.advanceMinutes(12, manager, () => hosts.sendHeartbeats('b'))
  expect(readStatus(long)?.hosts).toMatchObject({ all: 3, reporting: 2 })
  // A user overwrites the status.
  cluster.objects.change(path, { status: { state: 'healthy' } })
  await long.advanceMinutes(1, manager, () => hosts.sendHeartbeats('b'))
  await waitUntil('the ClusterStatus to be corrected', () => readStatus(long)?.state === 'degraded')
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('the ClusterStatus of a healthy cluster is written once, independent of heartbeats and leader changes', async () => {
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

const since = '2026-11-16T08:00:00.000Z'

function node(name: string, ready = 'True'): ClusterStatusInput['nodes'][number] {
  const none = { uid: undefined, unschedulable: false, cordonedBy: undefined, conditions: [] }
  return { name, ready, kubelet: 'v1.37.1', ...none }
}

function host(name: string, status: HostStatus = {}, silent = false): ClusterStatusInput['hosts'][number] {
  return {
    name,
    uid: undefined,
    names: undefined,
    etcdMember: status.etcd !== undefined,
    openRequests: [],
    status: { agent: '1.0.0', ...status },
    silent,
  }
}

const cps = ['cp1', 'cp2', 'cp3']
const member = (name: string, ready = true, silent = false) =>
  host(name, { etcd: buildHostEtcd(name, cps, { ready }) }, silent)

test('a cluster without problems is healthy', () => {
  const certificates = [
    { component: 'x', file: '/x', renewAfter: since, notAfter: '2027-11-16T08:00:00.000Z' },
  ]
  const snapshots = [
    { name: 'old', takenAt: '2026-11-15T08:00:00.000Z', size: 1 },
    { name: 'new', takenAt: since, size: 1 },
  ]
  const etcd = buildHostEtcd('cp3', cps)
  const hosts = [
    ...['cp1', 'cp2'].map((name) => member(name)),
    host('cp3', { etcd, snapshots }),
    // Snapshots of a host without an etcd member do not count.
    host('w1', {
      certificates,
      snapshots: [{ name: 'forged', takenAt: '2030-01-01T00:00:00.000Z', size: 1 }],
      agent: '1.0.1',
    }),
  ]
  expect(summarizeCluster({ nodes: ['cp1', 'w1'].map((name) => node(name)), hosts })).toEqual({
    state: 'healthy',
    nodes: { all: 2, ready: 2, unschedulable: 0, kubelets: [{ version: 'v1.37.1', count: 2 }] },
    hosts: {
      ...{ all: 4, reporting: 4 },
      agents: [
        { version: '1.0.0', count: 3 },
        { version: '1.0.1', count: 1 },
      ],
    },
    etcd: { members: 3, ready: 3 },
    certificates: { earliestExpiry: '2027-11-16', host: 'w1' },
    snapshot: { name: 'new', host: 'cp3' },
    findings: [],
  })
  expect(summarizeCluster({ nodes: [], hosts: [] }).state).toBe('healthy')
})

test.each([
  [
    'a cluster with one of three nodes not ready is degraded',
    { nodes: [node('a'), node('b'), node('c', 'False')], hosts: [] },
    'degraded',
  ],
  [
    'a cluster with half of its nodes not ready is unhealthy',
    { nodes: [node('a'), node('b', 'Unknown')], hosts: [] },
    'unhealthy',
  ],
  [
    'a cluster with an unreachable etcd member is degraded',
    { nodes: [], hosts: [member('cp1'), member('cp2'), member('cp3', true, true)] },
    'degraded',
  ],
  [
    'a cluster without etcd quorum is unhealthy',
    { nodes: [], hosts: [member('cp1'), member('cp2', false), member('cp3', true, true)] },
    'unhealthy',
  ],
])('%s', (_what, observed, state) => {
  expect(summarizeCluster(observed).state).toBe(state)
})

test('findings are sorted by severity, independent of the order of hosts', () => {
  const hosts = [
    host('b', { components: [{ component: 'kubelet', state: 'unhealthy', since }] }),
    host('a', { failing: [{ component: 'etcd', probe: 'd', since, code: 'DISK_SLOW' }] }),
    host('c', { components: [{ component: 'etcd', state: 'exhausted', since }] }),
    host('d', {}, true),
  ]
  const { findings } = summarizeCluster({ nodes: [], hosts })
  expect(findings).toEqual([
    { severity: 'error', host: 'c', message: 'etcd: all healing steps failed' },
    { severity: 'error', host: 'd', message: 'the agent does not report' },
    { severity: 'warning', host: 'a', message: 'a disk: DISK_SLOW' },
    { severity: 'warning', host: 'b', message: 'kubelet is unhealthy' },
  ])
  expect(summarizeCluster({ nodes: [], hosts: hosts.toReversed() }).findings).toEqual(findings)
})
