import { expect, test } from 'vitest'
import { checkCase, checkCaseBriefly } from './testing/fixtures.ts'

function withAddress(name: string, address: string, prefix: number, plugin = 'flannel') {
  const addresses = [
    { interface: 'eth0', address: '10.0.0.21', prefix: 24 },
    { interface: name, address, prefix },
  ]
  return checkCase({
    spec: [`network: { plugin: ${plugin}, policy: none }`],
    facts: { w1: { linux: { addresses } } },
  })
}

test('a host network that overlaps the pod or service network is an error', () => {
  expect(withAddress('eth1', '10.244.7.9', 24)).toEqual([
    {
      code: 'HOST_NETWORK_OVERLAP',
      severity: 'error',
      message: 'eth1 with 10.244.7.9/24 overlaps spec.network.pods 10.244.0.0/16',
      hint: 'set spec.network.pods to a network that no host uses',
      path: 'spec.network.pods',
      host: 'w1',
    },
  ])
  expect(withAddress('eth1', '10.96.255.255', 32)).toMatchObject([{ path: 'spec.network.services' }])
})

test.each([
  ['10.64.0.1', 10],
  ['10.0.0.1', 8],
])('a host network that contains the service network is an error: %s/%i', (address, prefix) => {
  const paths = withAddress('eth1', address, prefix).map(({ path }) => path)
  expect(paths).toContain('spec.network.services')
})

test.each([
  ['eth1', '10.243.255.255', 32],
  ['eth1', '10.245.0.0', 16],
  ['eth1', '2001:db8::1', 64],
  ['lo', '10.244.0.1', 32],
  ['cni0', '10.244.1.1', 24],
  ['flannel.4096', '10.244.1.0', 32],
  ['veth12ab34cd', '10.244.1.1', 24],
  ['nodelocaldns', '10.96.0.10', 32],
])('%s with %s/%i causes no conflict', (name, address, prefix) => {
  expect(withAddress(name, address, prefix)).toEqual([])
})

test.each(['docker0', 'br-0123456789ab'])('an overlap with the bridge %s is only a warning', (name) => {
  expect(withAddress(name, '10.244.0.1', 16)).toMatchObject([
    { code: 'HOST_NETWORK_OVERLAP', severity: 'warning' },
  ])
})

test('with plugin none, pod addresses are allowed on interfaces other than the default one', () => {
  expect(withAddress('cilium_host', '10.244.1.1', 32, 'none')).toEqual([])
  expect(withAddress('eth0', '10.244.1.1', 24, 'none')).toMatchObject([{ code: 'HOST_NETWORK_OVERLAP' }])
})

const withMtu = (mtu: number) => [`network: { policy: none, flannel: { mtu: ${mtu} } }`]

test('a flannel MTU above the MTU of the node interface is a warning', () => {
  const addresses = [{ interface: 'eth0', address: '10.0.0.21', prefix: 24, mtu: 1400 }]
  expect(checkCase({ spec: withMtu(1450), facts: { w1: { linux: { addresses } } } })).toEqual([
    {
      code: 'HOST_MTU',
      severity: 'warning',
      message: 'the MTU 1450 of cluster.yml exceeds the MTU 1400 of eth0: large packets would be lost',
      hint: 'mtu: 1400',
      path: 'spec.network.flannel.mtu',
      component: 'flanneld',
      host: 'w1',
    },
  ])
})

test('the flannel MTU is not checked on dedicated etcd hosts and Windows hosts', () => {
  expect(checkCaseBriefly({ spec: withMtu(9000) })).toEqual(['cp1 warning HOST_MTU', 'w1 warning HOST_MTU'])
})

test('no MTU warning if no MTU is set, if it fits, or if the interface MTU is unknown', () => {
  const addresses = [{ interface: 'eth0', address: '10.0.0.21', prefix: 24 }]
  expect(checkCaseBriefly({})).toEqual([])
  expect(checkCaseBriefly({ spec: withMtu(1500) })).toEqual([])
  expect(checkCaseBriefly({ spec: withMtu(1501), facts: { w1: { linux: { addresses } } } })).not.toContain(
    'w1 warning HOST_MTU',
  )
})
