import { expect, test } from 'vitest'
import { parseAddonCluster, buildAddonInputFixture } from '../testing/addon-input.ts'
import { coredns } from './coredns.ts'

function readForwarders(more: string, resolvers: readonly (readonly string[])[]): string | undefined {
  const manifests = coredns.buildManifests(buildAddonInputFixture(parseAddonCluster(more), { resolvers }))
  const text: unknown = Object(manifests.find(({ kind }) => kind === 'ConfigMap')?.['data'])['Corefile']
  return /forward \. (.*) \{/.exec(String(text))?.[1]
}

test.each([
  ['each host has resolvers of its own', '', [['192.0.2.1'], ['192.0.2.2']], '/etc/resolv.conf'],
  ['without facts, hosts are assumed to have resolvers', '', [], '/etc/resolv.conf'],
  ['no host has a resolver: CoreDNS forwards nothing', '', [[], []], undefined],
  [
    'a host whose only resolvers are loopback addresses counts as a host without resolvers',
    '',
    [['127.0.0.1'], ['::1', '127.0.1.1']],
    undefined,
  ],
  [
    'hosts without resolvers get those of the others',
    '',
    [['192.0.2.2', '192.0.2.1'], [], ['127.0.0.1']],
    '192.0.2.1 192.0.2.2',
  ],
  ['the setting in cluster.yml wins', '  dns: { forward: [192.0.2.9] }\n', [[]], '192.0.2.9'],
  ['an empty list forwards nothing', '  dns: { forward: [] }\n', [['192.0.2.1']], undefined],
  [
    'a kubelet resolvConf setting uses that file',
    '  components: { kubelet: { config: { resolvConf: /etc/mine } } }\n',
    [[]],
    '/etc/resolv.conf',
  ],
])('forwarders: %s', (_what, more, resolvers, servers) => {
  expect(readForwarders(more, resolvers)).toBe(servers)
})

test('CoreDNS has at most fifteen forwarders', () => {
  const many = Array.from({ length: 20 }, (_, index) => `192.0.2.${index + 1}`)
  expect(readForwarders('', [many, []])?.split(' ')).toHaveLength(15)
})

test.each([
  [1, 1],
  [2, 2],
  [32, 2],
  [33, 3],
  [500, 32],
])('%d hosts have %d CoreDNS replicas', (count, replicas) => {
  const cluster = parseAddonCluster()
  const [host] = cluster.spec.hosts
  const hosts = Array.from({ length: count }, () => host).flatMap((one) => one ?? [])
  const manifests = coredns.buildManifests(
    buildAddonInputFixture({ ...cluster, spec: { ...cluster.spec, hosts } }),
  )
  expect(manifests.find(({ kind }) => kind === 'Deployment')).toMatchObject({ spec: { replicas } })
})
