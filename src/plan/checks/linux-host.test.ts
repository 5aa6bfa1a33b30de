import { expect, test } from 'vitest'
import type { LinuxSystemFacts } from '../context.ts'
import { checkCase, checkCaseBriefly } from './testing/fixtures.ts'

const kernel: LinuxSystemFacts['kernel'] = {
  release: '6.1.0',
  modules: true,
  overlay: true,
  vxlan: true,
  bridge: true,
  bridgeNetfilter: true,
  nftables: true,
  iptables: true,
}
const everywhere = (linux: Partial<LinuxSystemFacts>) => ({ etcd1: { linux }, w1: { linux } })

test('a host without systemd is an error, whatever its role', () => {
  const linux = { init: { name: 'openrc', version: '0.55' } }
  expect(checkCaseBriefly({ facts: everywhere(linux) })).toEqual([
    'etcd1 error HOST_NO_SYSTEMD',
    'w1 error HOST_NO_SYSTEMD',
  ])
})

test('kernel features for containers are required only on nodes', () => {
  const linux = { kernel: { ...kernel, overlay: false, bridge: false, vxlan: false } }
  const messages = checkCase({ facts: everywhere(linux) }).map(({ host, message }) => `${host}: ${message}`)
  expect(messages).toEqual([
    'w1: the kernel 6.1.0 has no overlay, which container images need',
    'w1: the kernel 6.1.0 has no bridge, which pods need',
    'w1: the kernel 6.1.0 has no vxlan, which packets between nodes need',
  ])
})

test.each([
  ['network: { flannel: { backend: host-gw } }', false],
  ['network: { plugin: none }', true],
])('kernel features that the network plugin does not use may be missing: %s', (network, noBridge) => {
  const linux = { kernel: { ...kernel, vxlan: false, ...(noBridge ? { bridge: false } : {}) } }
  // Windows hosts would require the vxlan backend, so this cluster has only a Linux host.
  const lines = ['- { name: cp1, address: 10.0.0.11, roles: [control-plane] }']
  expect(checkCase({ spec: [network], hosts: lines, facts: { cp1: { linux } } })).toEqual([])
})

test('cgroup version 1 is a warning on nodes', () => {
  const controllers = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids']
  expect(checkCaseBriefly({ facts: everywhere({ cgroup: { version: 1, controllers } }) })).toEqual([
    'w1 warning HOST_CGROUP_V1',
  ])
})

test('missing cgroup controllers are one error that names all of them', () => {
  const cgroup = { version: 2 as const, controllers: ['cpu', 'io'] }
  expect(checkCase({ facts: everywhere({ cgroup }) })).toMatchObject([
    {
      code: 'HOST_CGROUP_CONTROLLER',
      severity: 'error',
      message:
        'cgroup controllers are missing: cpuset, memory, pids; the kubelet does not start without them',
      host: 'w1',
    },
  ])
})

test('swap and SELinux are reported for nodes', () => {
  expect(checkCaseBriefly({ facts: everywhere({ swap: true }) })).toEqual(['w1 warning HOST_SWAP'])
  expect(checkCaseBriefly({ facts: everywhere({ selinux: 'enforcing' }) })).toEqual([
    'w1 warning HOST_SELINUX',
  ])
  expect(checkCaseBriefly({ facts: everywhere({ selinux: 'permissive' }) })).toEqual([])
})

function checkResolver(servers: string[], spec: readonly string[] = []) {
  const linux = { resolver: { file: '/etc/resolv.conf', servers, systemdResolved: false } }
  return checkCaseBriefly({ spec, facts: { w1: { linux }, etcd1: { linux } } })
}

test('a node with only loopback DNS servers gets a warning about a resolver loop', () => {
  expect(checkResolver(['127.0.0.53', '::1'])).toEqual(['w1 warning HOST_RESOLVER_LOOP'])
  expect(checkResolver(['127.0.0.1', '192.0.2.53'])).toEqual([])
})

test('a node without DNS servers gets a warning', () => {
  expect(checkResolver([])).toEqual(['w1 warning HOST_NO_RESOLVER'])
})

test('DNS servers or a resolv.conf set in cluster.yml suppress the resolver warning', () => {
  expect(checkResolver([], ['dns: { forward: [192.0.2.53] }'])).toEqual([])
  expect(checkResolver([], ['components: { kubelet: { config: { resolvConf: /etc/mine } } }'])).toEqual([])
  expect(checkResolver([], ['components: { kubelet: { args: { resolv-conf: /etc/mine } } }'])).toEqual([])
})

test('the resolver warning names the resolv.conf file', () => {
  const linux = { resolver: { file: '/etc/r', servers: ['127.0.0.1'], systemdResolved: false } }
  expect(checkCase({ facts: { w1: { linux } } })[0]?.message).toBe(
    '/etc/r has only loopback DNS servers (127.0.0.1): CoreDNS would query itself',
  )
})
