import { expect, test } from 'vitest'
import { testCluster, testInput } from '../testing/addon-input.ts'
import { coredns } from './coredns.ts'

function told(more: string, resolvers: readonly (readonly string[])[]): string | undefined {
  const manifests = coredns.manifests(testInput(testCluster(more), { resolvers }))
  const text: unknown = Object(manifests.find(({ kind }) => kind === 'ConfigMap')?.['data'])['Corefile']
  return /forward \. (.*) \{/.exec(String(text))?.[1]
}

test.each([
  ['each host asks its own', '', [['192.0.2.1'], ['192.0.2.2']], '/etc/resolv.conf'],
  ['as long as nobody was asked, hosts are taken to have some', '', [], '/etc/resolv.conf'],
  ['no host has any: CoreDNS comes up, and asks nobody', '', [[], []], undefined],
  [
    'a host that names itself is as one that names nobody',
    '',
    [['127.0.0.1'], ['::1', '127.0.1.1']],
    undefined,
  ],
  [
    'some have none: they get those of the others',
    '',
    [['192.0.2.2', '192.0.2.1'], [], ['127.0.0.1']],
    '192.0.2.1 192.0.2.2',
  ],
  ['what cluster.yml says counts', '  dns: { forward: [192.0.2.9] }\n', [[]], '192.0.2.9'],
  ['nobody, if it says so', '  dns: { forward: [] }\n', [['192.0.2.1']], undefined],
  [
    'a file of one’s own',
    '  components: { kubelet: { config: { resolvConf: /etc/mine } } }\n',
    [[]],
    '/etc/resolv.conf',
  ],
])('%s', (_what, more, resolvers, servers) => {
  expect(told(more, resolvers)).toBe(servers)
})

test('CoreDNS takes no more than fifteen servers', () => {
  const many = Array.from({ length: 20 }, (_, index) => `192.0.2.${index + 1}`)
  expect(told('', [many, []])?.split(' ')).toHaveLength(15)
})

test.each([
  [1, 1],
  [2, 2],
  [32, 2],
  [33, 3],
  [500, 32],
])('%d hosts have %d of it', (count, replicas) => {
  const cluster = testCluster()
  const [host] = cluster.spec.hosts
  const hosts = Array.from({ length: count }, () => host).flatMap((one) => one ?? [])
  const manifests = coredns.manifests(testInput({ ...cluster, spec: { ...cluster.spec, hosts } }))
  expect(manifests.find(({ kind }) => kind === 'Deployment')).toMatchObject({ spec: { replicas } })
})
