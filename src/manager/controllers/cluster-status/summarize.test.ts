import { expect, test } from 'vitest'
import type { HostStatus } from '../../../contract/host-resource.ts'
import { buildHostEtcd } from '../../testing/fake-hosts.ts'
import { type ClusterStatusInput, summarizeCluster } from './summarize.ts'

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
  const hosts = [...cps.map((name) => member(name)), host('w1', { certificates, snapshots, agent: '1.0.1' })]
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
    snapshot: { name: 'new', host: 'w1' },
    findings: [],
  })
  expect(summarizeCluster({ nodes: [], hosts: [] }).state).toBe('healthy')
})

test.each([
  ['a node that is not ready', { nodes: [node('a'), node('b'), node('c', 'False')], hosts: [] }, 'degraded'],
  ['most nodes not ready', { nodes: [node('a'), node('b', 'Unknown')], hosts: [] }, 'unhealthy'],
  [
    'an unreachable member',
    { nodes: [], hosts: [member('cp1'), member('cp2'), member('cp3', true, true)] },
    'degraded',
  ],
  [
    'no quorum',
    { nodes: [], hosts: [member('cp1'), member('cp2', false), member('cp3', true, true)] },
    'unhealthy',
  ],
])('with %s', (_what, observed, state) => {
  expect(summarizeCluster(observed).state).toBe(state)
})

test('the worst comes first, and the same comes of the same in another order', () => {
  const hosts = [
    host('b', { components: [{ component: 'kubelet', state: 'unhealthy', since }] }),
    host('a', { failing: [{ component: 'etcd', probe: 'd', since, code: 'DISK_SLOW' }] }),
    host('c', { components: [{ component: 'etcd', state: 'exhausted', since }] }),
    host('d', {}, true),
  ]
  const { findings } = summarizeCluster({ nodes: [], hosts })
  expect(findings).toEqual([
    { severity: 'error', host: 'c', message: 'etcd needs an operator' },
    { severity: 'error', host: 'd', message: 'its agent does not report' },
    { severity: 'warning', host: 'a', message: 'a disk: DISK_SLOW' },
    { severity: 'warning', host: 'b', message: 'kubelet is unhealthy' },
  ])
  expect(summarizeCluster({ nodes: [], hosts: hosts.toReversed() }).findings).toEqual(findings)
})
