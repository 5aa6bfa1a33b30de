import { expect, test } from 'vitest'
import { buildCheckedInput } from '../checks/testing/fixtures.ts'
import type { LinuxSystemFacts } from '../context.ts'
import { planCluster } from '../plan.ts'

const addresses = [
  { interface: 'eth0', address: '10.0.0.11', prefix: 24 },
  { interface: 'eth0', address: 'fd00::11', prefix: 64 },
  { interface: 'eth1', address: 'fd00:1::11', prefix: 64 },
]
const network =
  "network: { pods: [10.244.0.0/16, 'fd00:10:244::/56'], services: [10.96.0.0/16, 'fd00:10:96::/112'] }"

/** Lists the interfaces on which a node accepts router advertisements although it forwards. */
function listAccepting(ipv6: LinuxSystemFacts['ipv6']): readonly string[] {
  const input = buildCheckedInput({
    spec: [network],
    hosts: ['- { name: cp1, address: 10.0.0.11, roles: [control-plane, worker] }'],
    facts: { cp1: { linux: { addresses, ipv6 } } },
  })
  const [plan] = planCluster(input).plans
  const sysctls = plan?.components.find(({ name }) => name === 'host')?.sysctls ?? {}
  expect(sysctls).toMatchObject({ 'net.ipv6.conf.all.forwarding': '1' })
  return Object.keys(sysctls).flatMap((name) => /^net\/ipv6\/conf\/(.*)\/accept_ra$/.exec(name)?.[1] ?? [])
}

test('a node that forwards keeps the default route that it got from a router advertisement', () => {
  const all = ['eth0', 'eth1', 'veth0']
  expect(listAccepting({ defaultInterface: 'eth0', routerAdvertisements: all })).toEqual(['eth0'])
  expect(listAccepting({ defaultInterface: 'eth1', routerAdvertisements: all })).toEqual(['eth0', 'eth1'])
  expect(listAccepting({ defaultInterface: 'eth1', routerAdvertisements: ['eth0'] })).toEqual(['eth0'])
  expect(listAccepting({ defaultInterface: 'eth1', routerAdvertisements: [] })).toEqual([])
})
