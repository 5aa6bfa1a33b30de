import { expect, test } from 'vitest'
import type { Finding } from '../../contract/finding.ts'
import type { LinuxSystemFacts } from '../context.ts'
import { checkCase } from './testing/fixtures.ts'

const eth0 = { interface: 'eth0', address: '10.0.0.21', prefix: 24, mtu: 1500 }
const ipv6 = { interface: 'eth0', address: 'fd00::21', prefix: 64, mtu: 1500 }
const control = { ...ipv6, address: 'fd00::11' }
const network =
  "network: { policy: none, pods: [10.244.0.0/16, 'fd00:10:244::/56'], services: [10.96.0.0/16, 'fd00:10:96::/112'] }"
const routes = { defaultInterface: 'eth0', routerAdvertisements: [] }

/** Checks a control plane, an etcd member without IPv6 and a worker with these settings and facts. */
function check(
  host: string,
  linux: Partial<LinuxSystemFacts>,
  networks: string = network,
): readonly Finding[] {
  return checkCase({
    spec: [networks],
    hosts: [
      '- { name: cp1, address: 10.0.0.11, roles: [control-plane] }',
      '- { name: etcd1, address: 10.0.0.12, roles: [etcd] }',
      `- { name: w1, address: 10.0.0.21, roles: [worker]${host} }`,
    ],
    facts: {
      cp1: { linux: { addresses: [{ ...eth0, address: '10.0.0.11' }, control], ipv6: routes } },
      w1: { linux: { addresses: [eth0, ipv6], ipv6: routes, ...linux } },
    },
  })
}

test('nodes with an IPv6 address on the same interface are accepted; an etcd member needs none', () => {
  expect(check('', {})).toEqual([])
  expect(check(", internalAddressIPv6: 'FD00:0::21'", {})).toEqual([])
})

test('a node without an IPv6 address, or with several, is refused', () => {
  expect(check('', { addresses: [eth0] })).toEqual([
    {
      code: 'HOST_NO_IPV6_ADDRESS',
      severity: 'error',
      message: 'eth0 has no IPv6 address, which a node of a dual-stack cluster needs',
      hint: 'give the interface an IPv6 address',
      path: 'spec.hosts[2].internalAddressIPv6',
      host: 'w1',
    },
  ])
  const temporary = { ...ipv6, address: 'fd00::a1b2' }
  expect(check('', { addresses: [eth0, ipv6, temporary] })).toMatchObject([
    {
      code: 'HOST_NO_IPV6_ADDRESS',
      message: 'eth0 has several IPv6 addresses: fd00::21, fd00::a1b2',
      hint: 'internalAddressIPv6: fd00::21',
    },
  ])
  expect(check(", internalAddressIPv6: 'fd00::21'", { addresses: [eth0, ipv6, temporary] })).toEqual([])
})

test('an IPv6 address that the host does not have, or has elsewhere, is refused', () => {
  expect(check(", internalAddressIPv6: 'fd00::99'", {})).toMatchObject([
    { code: 'HOST_ADDRESS_NOT_THERE', message: 'no interface of the host has the address fd00::99' },
  ])
  const other = { ...ipv6, interface: 'eth1', address: 'fd00:1::21' }
  expect(check(", internalAddressIPv6: 'fd00:1::21'", { addresses: [eth0, other] })).toMatchObject([
    {
      code: 'HOST_ADDRESS_NOT_THERE',
      message: 'fd00:1::21 is on eth1, but 10.0.0.21 is on eth0: flannel uses one interface',
    },
  ])
})

test('a second IPv4 address of an interface, with a label of its own, has the IPv6 address beside it', () => {
  const alias = { ...eth0, interface: 'eth0:1' }
  const first = { ...eth0, address: '10.0.1.21' }
  expect(check('', { addresses: [first, alias, ipv6] })).toEqual([])
  expect(check(", internalAddressIPv6: 'fd00::21'", { addresses: [first, alias, ipv6] })).toEqual([])
})

test('a node that reports the IPv6 address of another is refused', () => {
  expect(
    check('', { addresses: [eth0, control] }).map(({ code, host, message }) => [code, host, message]),
  ).toEqual([
    ['HOST_ADDRESS_DUPLICATE', 'cp1', 'its address fd00::11 is also the address of w1'],
    ['HOST_ADDRESS_DUPLICATE', 'w1', 'its address fd00::11 is also the address of cp1'],
  ])
})

test('a host without an IPv6 default route gets a warning', () => {
  expect(check('', { ipv6: { routerAdvertisements: [] } })).toMatchObject([
    { code: 'HOST_NO_IPV6_ROUTE', severity: 'warning', host: 'w1' },
  ])
})

test('with IPv6 first, a host without an IPv6 default route is refused', () => {
  const reversed =
    "network: { policy: none, pods: ['fd00:10:244::/56', 10.244.0.0/16], services: ['fd00:10:96::/112', 10.96.0.0/16] }"
  expect(check('', {}, reversed)).toEqual([])
  expect(check('', { ipv6: { routerAdvertisements: [] } }, reversed)).toMatchObject([
    { code: 'HOST_NO_IPV6_ROUTE', severity: 'error', host: 'w1' },
  ])
})

test('an interface whose MTU leaves less than 1280 bytes for pods is refused', () => {
  const withMtu = (mtu: number) =>
    check('', {
      addresses: [
        { ...eth0, mtu },
        { ...ipv6, mtu },
      ],
    })
  expect(withMtu(1350)).toEqual([])
  expect(withMtu(1349)).toMatchObject([{ code: 'HOST_MTU', severity: 'error', host: 'w1' }])
})

test('an IPv6 network of the host that overlaps the pods is an error', () => {
  const overlapping = { interface: 'eth1', address: 'fd00:10:244::7', prefix: 64 }
  expect(check('', { addresses: [eth0, ipv6, overlapping] })).toMatchObject([
    {
      code: 'HOST_NETWORK_OVERLAP',
      message: 'eth1 with fd00:10:244::7/64 overlaps spec.network.pods fd00:10:244::/56',
    },
  ])
})
