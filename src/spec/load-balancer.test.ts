import { describe, expect, test } from 'vitest'
import { parseAddressSpan } from './cidr.ts'
import { readCluster } from './read-cluster.ts'

function check(loadBalancer: string, more = ''): string[] {
  const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 192.168.1.11, internalAddress: 192.168.2.11, roles: [control-plane] }
  loadBalancer: ${loadBalancer}
${more}`
  return readCluster({ file: 'cluster.yml', text }).findings.map(
    ({ severity, code, message }) => `${severity} ${code} ${message}`,
  )
}

const pool = (...addresses: string[]): string =>
  `{ addresses: [${addresses.map((one) => `"${one}"`).join(', ')}] }`

describe('an address pool', () => {
  test.each([
    ['none'],
    [pool('192.168.1.240/29')],
    [pool('192.168.1.240-192.168.1.249', '192.168.1.250/32')],
    [pool('192.168.1.12-192.168.1.12')],
    ['{ addresses: [10.9.0.0/24], bgp: { asn: 64512, peers: [{ address: 192.168.1.1, asn: 64513 }] } }'],
  ])('%s is accepted', (text) => {
    expect(check(text)).toEqual([])
  })

  test.each([
    '192.168.1.240',
    '192.168.1.249-192.168.1.240',
    '192.168.1.240-2001:db8::1',
    '192.168.1.1-192.168.1.2-192.168.1.3',
    '192.168.1.0/33',
    '192.168.1.0/24/1',
    'fe80::1%eth0-fe80::2%eth0',
    'shop',
    '',
  ])('%j is neither a network nor a range', (text) => {
    expect(check(pool(text))).toEqual([
      expect.stringMatching(/^error SPEC_WRONG_VALUE must be a network such as/),
    ])
    expect(parseAddressSpan(text)).toBeUndefined()
  })

  test('must not be empty', () => {
    expect(check('{ addresses: [] }')).toEqual(['error SPEC_WRONG_VALUE needs at least one network or range'])
    expect(check('{ addresses: [192.168.1.255-192.168.2.0] }')).toEqual([
      'error SPEC_LOAD_BALANCER_EMPTY has only addresses that end with .0 or .255, which Services do not get',
    ])
    expect(check('{ addresses: [192.168.1.254-192.168.2.0] }')).toEqual([])
  })

  test.each([
    ['10.244.0.0/24', '10.244.0.0/24 overlaps spec.network.pods (10.244.0.0/16)'],
    ['10.96.255.0-10.97.0.9', '10.96.255.0-10.97.0.9 overlaps spec.network.services (10.96.0.0/16)'],
    ['192.168.1.0-192.168.1.11', '192.168.1.0-192.168.1.11 overlaps host cp1 (192.168.1.11)'],
    ['192.168.2.11-192.168.2.12', '192.168.2.11-192.168.2.12 overlaps host cp1 (192.168.2.11)'],
    ['192.168.1.99/32', '192.168.1.99/32 overlaps spec.api.endpoint (192.168.1.99)'],
    ['192.168.1.98/32', '192.168.1.98/32 overlaps spec.api.virtualIP (192.168.1.98)'],
  ])('%s is refused, because the cluster uses it', (text, message) => {
    expect(check(pool(text), '  api: { endpoint: 192.168.1.99:6443, virtualIP: 192.168.1.98 }\n')).toEqual([
      `error SPEC_OVERLAP ${message}`,
    ])
  })

  test('must not contain an address twice, or a BGP peer', () => {
    expect(check(pool('192.168.1.240/29', '192.168.1.247-192.168.1.249'))).toEqual([
      'error SPEC_OVERLAP 192.168.1.247-192.168.1.249 overlaps the pool (192.168.1.240/29)',
    ])
    const bgp = 'bgp: { asn: 1, peers: [{ address: 10.9.0.1, asn: 2 }] }'
    expect(check(`{ addresses: [10.9.0.0/24], ${bgp} }`)).toEqual([
      'error SPEC_OVERLAP 10.9.0.0/24 overlaps a BGP peer (10.9.0.1)',
    ])
  })

  test.each(['224.0.0.0/28', '127.1.0.0/24', '169.254.9.0/24', '0.0.0.0/29'])('%s is refused', (text) => {
    expect(check(pool(text))).toEqual([
      expect.stringMatching(/^error SPEC_WRONG_VALUE .*which Services cannot use/),
    ])
  })

  test('has only families that Services can have, and whole networks', () => {
    expect(check(pool('2001:db8::100-2001:db8::200'))).toEqual([
      'error SPEC_LOAD_BALANCER_FAMILY 2001:db8::100-2001:db8::200 is IPv6, and spec.network.services has no IPv6 network',
    ])
    expect(check(pool('192.168.1.241/29'))).toEqual([
      'error SPEC_NOT_A_NETWORK 192.168.1.241/29 is a host address, not a network address',
    ])
  })
})

describe('in a dual-stack cluster', () => {
  const ipv4First =
    "  network: { pods: [10.244.0.0/16, 'fd00:1::/56'], services: [10.96.0.0/16, 'fd00:2::/112'] }\n"
  const ipv6First =
    "  network: { pods: ['fd00:1::/56', 10.244.0.0/16], services: ['fd00:2::/112', 10.96.0.0/16] }\n"
  const [ipv4, ipv6] = ['192.168.1.240/29', 'fd00:3::/124']
  const bgp = `{ addresses: [${ipv4}], bgp: { asn: 64512, peers: [{ address: 192.168.1.1, asn: 64513 }] } }`

  test.each([
    [pool(ipv4), ipv4First],
    [pool(ipv4, ipv6), ipv4First],
    [pool(ipv6), ipv6First],
    [pool(ipv4, ipv6), ipv6First],
    [bgp, ipv4First],
  ])('%s has addresses of the primary family', (loadBalancer, network) => {
    expect(check(loadBalancer, network)).toEqual([])
  })

  test.each([
    [pool(ipv4), ipv6First, 6],
    [bgp, ipv6First, 6],
    [pool(ipv6), ipv4First, 4],
  ])('%s has no addresses of the primary family', (loadBalancer, network, family) => {
    expect(check(loadBalancer, network)).toEqual([
      `warning SPEC_LOAD_BALANCER_PRIMARY the pool has no IPv${family} address, and by default Services are IPv${family}: they stay pending`,
    ])
  })
})
