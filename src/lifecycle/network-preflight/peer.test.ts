import { expect, test } from 'vitest'
import { buildCheckedInput } from '../../plan/checks/testing/fixtures.ts'
import { listPeers } from './peer.ts'

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
