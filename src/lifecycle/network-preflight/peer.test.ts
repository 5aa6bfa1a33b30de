import { expect, test } from 'vitest'
import { inputOf } from '../../plan/checks/testing/fixtures.ts'
import { peersOf } from './peer.ts'

test('hosts have their roles, their ports, and who keeps packets out', () => {
  const { cluster, facts } = inputOf({ facts: { w1: { linux: { firewalls: ['docker', 'ufw'] } } } })
  const peers = peersOf(cluster, facts).map(({ host, os, roles, ports, gatekeepers }) => ({
    host: `${host} ${os}`,
    roles: [...roles],
    ports: ports.map(({ port }) => port),
    gatekeepers,
  }))
  expect(peers).toEqual([
    { host: 'cp1 linux', roles: ['control-plane', 'node'], ports: [6443, 10_250, 4789], gatekeepers: [] },
    { host: 'etcd1 linux', roles: ['etcd'], ports: [2379, 2380], gatekeepers: [] },
    { host: 'w1 linux', roles: ['node'], ports: [10_250, 4789], gatekeepers: ['ufw'] },
    { host: 'win1 windows', roles: ['node'], ports: [10_250, 4789], gatekeepers: [] },
  ])
})

test('a host of which nothing is known is nobody’s peer', () => {
  const { cluster, facts } = inputOf({})
  const known = new Map([...facts].filter(([host]) => host !== 'w1'))
  expect(peersOf(cluster, known).map(({ host }) => host)).toEqual(['cp1', 'etcd1', 'win1'])
})
