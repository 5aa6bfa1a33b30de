import { expect, test } from 'vitest'
import { planCluster } from '../plan.ts'
import type { LinuxSystemFacts } from '../context.ts'
import { buildCheckedInput, checkCase } from './testing/fixtures.ts'

const hosts = [
  '- { name: cp1, address: cp1.example.com, roles: [control-plane] }',
  '- { name: cp2, address: 10.0.0.12, roles: [control-plane] }',
  '- { name: w1, address: 10.0.0.21, roles: [worker] }',
]
const own = { interface: 'eth0', address: '10.0.0.11', prefix: 24 }

function check(linux: Partial<LinuxSystemFacts>, virtualIP = '10.0.0.10', host = 'cp1') {
  const facts = { cp1: { linux: { addresses: [own] } }, [host]: { linux: { addresses: [own], ...linux } } }
  return checkCase({ spec: [`api: { virtualIP: ${virtualIP} }`], hosts, facts })
}

function planCheckedHosts(linux: Partial<LinuxSystemFacts>) {
  const spec = ['api: { virtualIP: 10.0.0.10 }']
  return planCluster(buildCheckedInput({ spec, hosts, facts: { cp1: { linux } } }))
}

test('an unused address of the subnet has no finding', () => {
  expect(check({})).toEqual([])
})

test.each([
  [['nft'], 'apt-get install keepalived curl, or remove spec.api.virtualIP'],
  [['nft', 'curl'], 'apt-get install keepalived, or remove spec.api.virtualIP'],
])('a control plane needs keepalived and curl; it has %j', (programs, hint) => {
  expect(check({ programs })).toMatchObject([
    { code: 'HOST_NO_KEEPALIVED', severity: 'error', host: 'cp1', component: 'hyperkube-keepalived', hint },
  ])
})

test('a worker needs neither', () => {
  expect(
    check({ addresses: [{ ...own, address: '10.0.0.21' }], programs: ['nft'] }, '10.0.0.10', 'w1'),
  ).toEqual([])
})

test.each(['10.0.1.10', '10.0.0.0', '10.0.0.255'])('%s is not usable in the subnet', (virtualIP) => {
  expect(check({}, virtualIP)).toMatchObject([
    { code: 'HOST_VIRTUAL_IP_SUBNET', severity: 'error', host: 'cp1' },
    { code: 'HOST_VIRTUAL_IP_SUBNET', severity: 'error', host: 'cp2' },
  ])
})

test('an active keepalived of the distribution is a warning with the id that it must not use', () => {
  const [finding] = check({ foreignServices: ['keepalived.service'] })
  expect(finding).toMatchObject({ code: 'HOST_FOREIGN_KEEPALIVED', severity: 'warning', host: 'cp1' })
  expect(finding?.hint).toContain('virtual_router_id 10;')
})

test.each([
  ['cp1', 32, []],
  ['cp1', 24, ['HOST_HAS_VIRTUAL_IP']],
  ['w1', 32, ['HOST_HAS_VIRTUAL_IP']],
])('%s has the address with prefix length %i: %j', (host, prefix, codes) => {
  const ownAddress = host === 'cp1' ? own : { ...own, address: '10.0.0.21' }
  const addresses = [ownAddress, { ...own, address: '10.0.0.10', prefix }]
  expect(check({ addresses }, '10.0.0.10', host).map(({ code }) => code)).toEqual(codes)
})

test('the virtual IP is not taken for the address of its holder, even if it comes first', () => {
  const { plans } = planCheckedHosts({ addresses: [{ ...own, address: '10.0.0.10', prefix: 32 }, own] })
  expect(plans.map(({ host, address }) => [host, address])).toEqual([
    ['cp1', '10.0.0.11'],
    ['cp2', '10.0.0.12'],
    ['w1', '10.0.0.21'],
  ])
})

test('the commands for a firewall allow VRRP', () => {
  const hint = (firewall: 'firewalld' | 'ufw') => check({ firewalls: [firewall] }).map((found) => found.hint)
  expect(hint('firewalld').join()).toContain('firewall-cmd --permanent --add-protocol=vrrp')
  expect(hint('ufw').join()).toContain('ufw allow from 10.0.0.12')
})
