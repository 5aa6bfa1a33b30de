import { array, assert, constantFrom, property } from 'fast-check'
import { expect, test } from 'vitest'
import { readCluster } from './read-cluster.ts'

interface NetworkCase {
  readonly network: string
  readonly host?: string
}

/** Reads a cluster with these networks and formats its findings. The network is in line 6, the host in line 8. */
function formatFindings({ network, host = '' }: NetworkCase): string[] {
  const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: production }
spec:
  kubernetes: 1.37.1
  network: { ${network} }
  hosts:
    - { name: cp1, address: 192.168.1.11, roles: [control-plane, worker]${host} }
`
  return readCluster({ file: 'cluster.yml', text }).findings.map(
    ({ code, position, path, message }) =>
      `${code} ${position?.line}:${position?.column} ${path ?? ''}: ${message}`,
  )
}

const pods = "pods: [10.244.0.0/16, 'fd00:10:244::/56']"
const services = "services: [10.96.0.0/16, 'fd00:10:96::/112']"
const dual = `${pods}, ${services}`

test('an IPv4 and an IPv6 network for pods and services are valid', () => {
  expect(formatFindings({ network: dual })).toEqual([])
  expect(formatFindings({ network: dual, host: ", internalAddressIPv6: 'fd00::11'" })).toEqual([])
})

test('IPv6 can be first, in both lists', () => {
  const reversed =
    "pods: ['fd00:10:244::/56', 10.244.0.0/16], services: ['fd00:10:96::/112', 10.96.0.0/16], flannel: { mtu: 1350 }"
  expect(formatFindings({ network: reversed })).toEqual([])
})

test.each<readonly [string, string, string]>([
  ["pods: 'fd00:10:244::/56'", 'SPEC_IPV6 6:20', 'a cluster without IPv4 is not supported'],
  [
    `pods: ['fd00:10:244::/56', 10.244.0.0/16], ${services}`,
    'SPEC_DUAL_STACK 6:67',
    'the first network has another address family than that of spec.network.pods',
  ],
  [
    `pods: [10.244.0.0/16, 10.245.0.0/16], ${services}`,
    'SPEC_DUAL_STACK 6:20',
    'both networks have the same address family',
  ],
  [pods, 'SPEC_DUAL_STACK 6:12', 'spec.network.pods has an IPv6 network, but spec.network.services has none'],
  [
    services,
    'SPEC_DUAL_STACK 6:12',
    'spec.network.services has an IPv6 network, but spec.network.pods has none',
  ],
  [
    `pods: [10.244.0.0/16, 'fd00:10:244::1/56'], ${services}`,
    'SPEC_NOT_A_NETWORK 6:20',
    'fd00:10:244::1/56 is a host address, not a network address',
  ],
  [
    `pods: [10.244.0.0/16, 'fd00:10::/47'], ${services}`,
    'SPEC_WRONG_VALUE 6:20',
    'with /64 per node the IPv6 network must have a prefix of at least /48',
  ],
  [
    `${pods}, services: [10.96.0.0/16, 'fd00:10:96::/64']`,
    'SPEC_WRONG_VALUE 6:67',
    'the IPv6 network must have a prefix from /108 to /120',
  ],
  [
    `pods: [10.244.0.0/16, 'fd00:10:244::/65'], ${services}`,
    'SPEC_PODS_TOO_SMALL 6:20',
    'fd00:10:244::/65 has space for 0 nodes with /64 each; the cluster has 1',
  ],
  [
    `${pods}, services: [10.96.0.0/16, 'fd00:10:244::/112']`,
    'SPEC_OVERLAP 6:67',
    'fd00:10:244::/112 overlaps spec.network.pods fd00:10:244::/56',
  ],
  [
    `${pods}, services: [10.244.0.0/20, 'fd00:10:96::/112']`,
    'SPEC_OVERLAP 6:67',
    '10.244.0.0/20 overlaps spec.network.pods 10.244.0.0/16',
  ],
  [`${dual}, flannel: { mtu: 1349 }`, 'SPEC_WRONG_VALUE', 'must be at least 1350 for IPv6'],
])('%s is refused', (network, code, message) => {
  const [first, ...others] = formatFindings({ network })
  expect(others).toEqual([])
  expect(first?.startsWith(code), first).toBe(true)
  expect(first?.endsWith(`: ${message}`), first).toBe(true)
})

test.each<readonly [string, string, string]>([
  [', os: windows', 'SPEC_DUAL_STACK 8:79', 'a Windows host cannot join a dual-stack cluster'],
  [
    ", internalAddress: 'fd00::11'",
    'SPEC_DUAL_STACK 8:92',
    'internalAddress must be an IPv4 address; the IPv6 address belongs in internalAddressIPv6',
  ],
  [
    ", internalAddressIPv6: 'fe80::11'",
    'SPEC_WRONG_VALUE 8:',
    'fe80::11 is in fe80::/10, so other hosts cannot reach it',
  ],
  [
    ", internalAddressIPv6: 'fd00:10:244::11'",
    'SPEC_OVERLAP 8:7',
    'fd00:10:244::11 is in spec.network.pods fd00:10:244::/56',
  ],
])('in a dual-stack cluster a host with %s is refused', (host, code, message) => {
  const found = formatFindings({ network: dual, host })
  expect(
    found.some((line) => line.startsWith(code) && line.endsWith(`: ${message}`)),
    found.join('\n'),
  ).toBe(true)
})

test('an IPv6 address of a host in a cluster with IPv4 only is refused', () => {
  expect(formatFindings({ network: '', host: ", internalAddressIPv6: 'fd00::11'" })).toEqual([
    'SPEC_DUAL_STACK 8:96 spec.hosts[0].internalAddressIPv6: internalAddressIPv6 has no effect: spec.network.pods has no IPv6 network',
  ])
})

test('a host that the others would reach at an IPv6 address is refused with IPv4 only', () => {
  expect(formatFindings({ network: '', host: ", internalAddress: 'fd00::11'" })).toEqual([
    'SPEC_IPV6 8:92 spec.hosts[0].internalAddress: the other hosts reach a host only at an IPv4 address',
  ])
  const readHost = (more: string): readonly string[] => {
    const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: production }
spec:
  kubernetes: 1.37.1
  hosts: [{ name: cp1, address: 'fd00::11', roles: [control-plane, worker]${more} }]
`
    return readCluster({ file: 'cluster.yml', text }).findings.map(({ code }) => code)
  }
  expect(readHost('')).toEqual(['SPEC_IPV6'])
  expect(readHost(', internalAddress: 10.0.0.1')).toEqual([])
  expect(readHost(', interface: eth0')).toEqual([])
})

test('accepted networks are one IPv4 network each, or one of each family in the same order', () => {
  const network = constantFrom(
    '10.10.0.0/16',
    '10.20.0.0/16',
    'fd00:10::/56',
    'fd00:20::/56',
    'fd00:30::/112',
  )
  const networks = array(network, { minLength: 1, maxLength: 2 })
  const families = (list: readonly string[]) => list.map((text) => (text.includes(':') ? 6 : 4)).join()
  assert(
    property(networks, networks, (some, others) => {
      const list = (name: string, texts: readonly string[]) =>
        `${name}: [${texts.map((text) => `'${text}'`).join(', ')}]`
      const found = formatFindings({ network: `${list('pods', some)}, ${list('services', others)}` })
      if (found.length > 0) return
      expect(['4', '4,6', '6,4']).toContain(families(some))
      expect(families(others)).toBe(families(some))
    }),
    {
      examples: [
        [
          ['fd00:20::/56', '10.10.0.0/16'],
          ['fd00:30::/112', '10.20.0.0/16'],
        ],
      ],
    },
  )
})
