import { expect, test } from 'vitest'
import type { LinuxSystemFacts } from '../context.ts'
import { buildCheckedInput, checkCase, checkCaseBriefly, defaultHostLines } from './testing/fixtures.ts'

const enforced = ['network: { policy: kube-router }']

function worker(linux: Partial<LinuxSystemFacts>, spec: readonly string[] = enforced) {
  const found = checkCase({ spec, facts: { etcd1: { linux }, w1: { linux } } })
  return found.filter(({ host }) => host !== 'win1')
}

test.each([
  [['nft', 'ipset'], 'apt-get install iptables, or spec.network.policy: none'],
  [['nft', 'iptables'], 'apt-get install ipset, or spec.network.policy: none'],
  [['nft'], 'apt-get install iptables ipset, or spec.network.policy: none'],
])('a node needs iptables and ipset; it has %j', (programs, hint) => {
  expect(worker({ programs })).toMatchObject([
    { code: 'HOST_NO_POLICY_PROGRAMS', severity: 'error', host: 'w1', component: 'kube-router', hint },
  ])
})

test('a filter table that iptables cannot read is an error', () => {
  expect(worker({ foreignFilterTable: true })).toMatchObject([
    { code: 'HOST_FOREIGN_FILTER_TABLE', severity: 'error', host: 'w1' },
  ])
})

test('a filter table that ip6tables cannot read is an error in a dual-stack cluster', () => {
  const ipv6 = { defaultInterface: 'eth0', routerAdvertisements: [], foreignFilterTable: true }
  const dual =
    "network: { pods: [10.244.0.0/16, 'fd00:10:244::/56'], services: [10.96.0.0/16, 'fd00:10:96::/112'] }"
  const hosts = defaultHostLines.filter((line) => !line.includes('windows'))
  const readMessages = (spec: readonly string[]) =>
    checkCase({ spec, hosts, facts: { w1: { linux: { ipv6 } } } }).flatMap(({ code, message }) =>
      code === 'HOST_FOREIGN_FILTER_TABLE' ? [message] : [],
    )
  expect(readMessages([dual])).toEqual([
    'nft wrote rules into the table ip6 filter that iptables cannot read; kube-router would exit',
  ])
  expect(readMessages(enforced)).toEqual([])
})

test('a kernel that does not filter packets of a bridge is an error', () => {
  const system = buildCheckedInput({}).facts.get('w1')?.system
  if (system?.os !== 'linux') throw new Error('w1 is a Linux host')
  expect(worker({ kernel: { ...system.kernel, bridgeNetfilter: false } })).toMatchObject([
    { code: 'HOST_NO_BRIDGE_NETFILTER', severity: 'error', host: 'w1' },
  ])
})

test.each(['network: { policy: none }', 'network: { plugin: none }'])('%s needs none of this', (line) => {
  expect(worker({ programs: ['nft'], foreignFilterTable: true }, [line])).toEqual([])
})

test('a Windows host is reported, because no program enforces policies there', () => {
  expect(checkCaseBriefly({ spec: enforced })).toEqual(['win1 warning HOST_NO_WINDOWS_POLICY'])
})
