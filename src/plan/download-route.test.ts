import { expect, test } from 'vitest'
import { buildCheckedInput } from './checks/testing/fixtures.ts'
import { planCluster } from './plan.ts'

test('a host of a dual-stack cluster reaches itself without the proxy at both addresses', () => {
  const addresses = [
    { interface: 'eth0', address: '10.0.0.11', prefix: 24 },
    { interface: 'eth0', address: 'fd00::11', prefix: 64 },
  ]
  const ipv6 = { defaultInterface: 'eth0', routerAdvertisements: [] }
  const input = buildCheckedInput({
    spec: [
      "network: { pods: [10.244.0.0/16, 'fd00:10:244::/56'], services: [10.96.0.0/16, 'fd00:10:96::/112'] }",
      "proxy: { https: 'http://proxy.example:3128' }",
    ],
    hosts: ['- { name: cp1, address: 10.0.0.11, roles: [control-plane, worker] }'],
    facts: { cp1: { linux: { addresses, ipv6 } } },
  })
  const service = planCluster(input).plans[0]?.components.find(({ name }) => name === 'containerd')?.service
  const unit = service?.supervisor === 'systemd' ? service.unit : ''
  const entries = /NO_PROXY=([^"]*)"/.exec(unit)?.[1]?.split(',')
  expect(entries).toEqual(expect.arrayContaining(['10.0.0.11', 'fd00::11', 'cp1']))
})
