import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import { buildCheckedInput } from '../../plan/checks/testing/fixtures.ts'
import {
  findNewHosts,
  listPeers,
  listRequiredConnections,
  type RequiredConnection,
} from './required-connections.ts'
import { buildPeers, formatConnection, listPeerNames } from './testing/fixtures.ts'

test('peers have roles, ports and firewalls', () => {
  const { cluster, facts } = buildCheckedInput({ facts: { w1: { linux: { firewalls: ['docker', 'ufw'] } } } })
  const peers = listPeers(cluster, facts).map(({ host, os, roles, ports, firewalls }) => ({
    host: `${host} ${os}`,
    roles: [...roles],
    ports: ports.map(({ port }) => port),
    firewalls,
  }))
  expect(peers).toEqual([
    { host: 'cp1 linux', roles: ['control-plane', 'node'], ports: [6443, 10_250, 4789], firewalls: [] },
    { host: 'etcd1 linux', roles: ['etcd'], ports: [2379, 2380], firewalls: [] },
    { host: 'w1 linux', roles: ['node'], ports: [10_250, 4789], firewalls: ['ufw'] },
    { host: 'win1 windows', roles: ['node'], ports: [10_250, 4789], firewalls: [] },
  ])
})

test('a host without facts is not a peer', () => {
  const { cluster, facts } = buildCheckedInput({})
  const known = new Map([...facts].filter(([host]) => host !== 'w1'))
  expect(listPeers(cluster, known).map(({ host }) => host)).toEqual(['cp1', 'etcd1', 'win1'])
})

function op(component: string, action: Op['action'], target: Op['target'] = 'service'): Op {
  return { component, stage: 'node', action, target, name: `${component}.service`, because: [] }
}

test('a host is new if a service that peers connect to is created on it', () => {
  const ops = new Map<string, readonly Op[]>([
    ['new', [op('kubelet', 'create', 'file'), op('kubelet', 'create'), op('kubelet', 'start')]],
    ['member', [op('etcd', 'create')]],
    ['promoted', [op('kube-apiserver', 'create')]],
    ['restarted', [op('kubelet', 'restart'), op('etcd', 'change')]],
    ['renewed', [op('kubelet', 'create', 'file'), op('apiserver-proxy', 'create')]],
    ['done', []],
  ])
  expect([...findNewHosts(ops)]).toEqual(['new', 'member', 'promoted'])
})

test('a host that replaces the servers of another tool is not new', () => {
  const service: Op = {
    component: 'etcd',
    stage: 'etcd',
    action: 'create',
    target: 'service',
    name: 'etcd.service',
    because: [],
  }
  const predecessor: Op = { ...service, target: 'predecessor', name: '/etc/kubernetes/manifests/etcd.yaml' }
  expect([...findNewHosts(new Map([['moves', [predecessor, service]]]))]).toEqual([])
  expect([...findNewHosts(new Map([['joins', [service]]]))]).toEqual(['joins'])
})

function listAll(peers: ReturnType<typeof buildPeers>): readonly RequiredConnection[] {
  return listRequiredConnections(peers, listPeerNames(peers))
}

test('required connections depend on the roles of both hosts', () => {
  expect(listAll(buildPeers({ controlPlanes: 1, etcd: 2, workers: 1 })).map(formatConnection)).toEqual([
    'etcd1 → cp1:6443/tcp',
    'etcd2 → cp1:6443/tcp',
    'w1 → cp1:6443/tcp',
    'cp1 → etcd1:2379/tcp',
    'etcd2 → etcd1:2380/tcp',
    'cp1 → etcd2:2379/tcp',
    'etcd1 → etcd2:2380/tcp',
    'cp1 → w1:10250/tcp',
    'cp1 → w1:4789/udp',
    'w1 → cp1:4789/udp',
  ])
})

test('control planes with etcd connect to all ports of each other', () => {
  const connections = listAll(buildPeers({ controlPlanes: 2 })).map(formatConnection)
  for (const port of ['2379/tcp', '2380/tcp', '6443/tcp', '10250/tcp', '4789/udp']) {
    expect(connections).toContain(`cp1 → cp2:${port}`)
    expect(connections).toContain(`cp2 → cp1:${port}`)
  }
  expect(connections).toHaveLength(10)
})

test('ports are those of cluster.yml, and without vxlan there are no UDP connections', () => {
  const hosts = { controlPlanes: 1, workers: 1 }
  const spec = ['api: { port: 8443 }', 'network: { flannel: { port: 8472, vni: 1 } }']
  expect(listAll(buildPeers({ ...hosts, spec })).map(formatConnection)).toEqual([
    'w1 → cp1:8443/tcp',
    'cp1 → w1:10250/tcp',
    'cp1 → w1:8472/udp',
    'w1 → cp1:8472/udp',
  ])
  for (const network of ['network: { flannel: { backend: host-gw } }', 'network: { plugin: none }']) {
    const connections = listAll(buildPeers({ ...hosts, spec: [network] }))
    expect(connections.map(({ port }) => port.protocol)).toEqual(['tcp', 'tcp'])
  }
})

test.each([1, 2, 3, 4, 5, 7, 500])(
  'of %i nodes each has UDP connections to and from up to three others',
  (count) => {
    const connections = listAll(buildPeers({ workers: count - 1 })).filter(
      ({ port }) => port.protocol === 'udp',
    )
    const expected = Math.min(3, count - 1)
    for (const side of ['from', 'to'] as const) {
      const times = Map.groupBy(connections, (connection) => connection[side].host)
      expect(times.size).toBe(count > 1 ? count : 0)
      for (const matching of times.values()) expect(matching).toHaveLength(expected)
    }
    // Each connection occurs only once.
    expect(new Set(connections.map(formatConnection)).size).toBe(connections.length)
  },
)

test('the number of connections of 500 hosts grows linearly with the hosts', () => {
  const peers = buildPeers({ controlPlanes: 3, workers: 497 })
  const connections = listAll(peers)
  expect(connections.length).toBeLessThan(500 * 10)
  const [cp1, w1] = ['cp1', 'w1'].map((host) => connections.filter(({ from }) => from.host === host).length)
  // w1 connects to three API servers, and by UDP to three nodes.
  expect(w1).toBe(6)
  // cp1 connects to 499 kubelets. On each other control plane it connects to three ports: two of etcd, one of
  // the API. It also connects by UDP to three nodes.
  expect(cp1).toBe(499 + 2 * 3 + 3)
})

test('if one host is new, only connections from and to it are required', () => {
  const peers = buildPeers({ controlPlanes: 3, workers: 20 })
  const connections = listRequiredConnections(peers, new Set(['w7'])).map(formatConnection)
  expect(connections.filter((connection) => !connection.includes('w7'))).toEqual([])
  expect(connections.filter((connection) => connection.startsWith('w7 →'))).toHaveLength(6)
  expect(connections.filter((connection) => connection.includes('→ w7:'))).toHaveLength(6)
  expect(listRequiredConnections(peers, new Set())).toEqual([])
})
