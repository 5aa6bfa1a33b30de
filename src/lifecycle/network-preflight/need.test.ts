import { expect, test } from 'vitest'
import { inShort, names, somePeers } from './testing/fixtures.ts'
import { type Need, needsOf } from './required-connection.ts'

function all(peers: ReturnType<typeof somePeers>): readonly Need[] {
  return needsOf(peers, names(peers))
}

test('each role is reached by those who need it', () => {
  expect(all(somePeers({ controlPlanes: 1, etcd: 2, workers: 1 })).map(inShort)).toEqual([
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

test('where etcd is beside control planes, they reach each other by all', () => {
  const needs = all(somePeers({ controlPlanes: 2 })).map(inShort)
  for (const port of ['2379/tcp', '2380/tcp', '6443/tcp', '10250/tcp', '4789/udp']) {
    expect(needs).toContain(`cp1 → cp2:${port}`)
    expect(needs).toContain(`cp2 → cp1:${port}`)
  }
  expect(needs).toHaveLength(10)
})

test('ports are those of cluster.yml, and without vxlan there are no datagrams', () => {
  const hosts = { controlPlanes: 1, workers: 1 }
  const spec = ['api: { port: 8443 }', 'network: { flannel: { port: 8472, vni: 1 } }']
  expect(all(somePeers({ ...hosts, spec })).map(inShort)).toEqual([
    'w1 → cp1:8443/tcp',
    'cp1 → w1:10250/tcp',
    'cp1 → w1:8472/udp',
    'w1 → cp1:8472/udp',
  ])
  for (const network of ['network: { flannel: { backend: host-gw } }', 'network: { plugin: none }']) {
    const needs = all(somePeers({ ...hosts, spec: [network] }))
    expect(needs.map(({ port }) => port.protocol)).toEqual(['tcp', 'tcp'])
  }
})

test.each([1, 2, 3, 4, 5, 7, 500])(
  'of %i nodes each looks at three others and is looked at by three',
  (count) => {
    const needs = all(somePeers({ workers: count - 1 })).filter(({ port }) => port.protocol === 'udp')
    const expected = Math.min(3, count - 1)
    for (const side of ['from', 'to'] as const) {
      const times = Map.groupBy(needs, (need) => need[side].host)
      expect(times.size).toBe(count > 1 ? count : 0)
      for (const own of times.values()) expect(own).toHaveLength(expected)
    }
    // Never the same pair twice.
    expect(new Set(needs.map(inShort)).size).toBe(needs.length)
  },
)

test('five hundred hosts ask each other as often as they are, not as often as their square', () => {
  const peers = somePeers({ controlPlanes: 3, workers: 497 })
  const needs = all(peers)
  expect(needs.length).toBeLessThan(500 * 10)
  const [cp1, w1] = ['cp1', 'w1'].map((host) => needs.filter(({ from }) => from.host === host).length)
  // The API of three, datagrams to three.
  expect(w1).toBe(6)
  // Every kubelet; of the two others etcd twice and the API; datagrams.
  expect(cp1).toBe(499 + 2 * 3 + 3)
})

test('where a host joins, only what concerns it is looked at', () => {
  const peers = somePeers({ controlPlanes: 3, workers: 20 })
  const needs = needsOf(peers, new Set(['w7'])).map(inShort)
  expect(needs.filter((need) => !need.includes('w7'))).toEqual([])
  expect(needs.filter((need) => need.startsWith('w7 →'))).toHaveLength(6)
  expect(needs.filter((need) => need.includes('→ w7:'))).toHaveLength(6)
  expect(needsOf(peers, new Set())).toEqual([])
})
