import { expect, test } from 'vitest'
import type { LinuxSystemFacts } from '../context.ts'
import { buildCheckedInput, checkCase, checkCaseBriefly, defaultHostLines } from './testing/fixtures.ts'

function ordinaryKernel(): LinuxSystemFacts['kernel'] {
  const system = buildCheckedInput({}).facts.get('w1')?.system
  if (system?.os !== 'linux') throw new Error('w1 is a Linux host')
  return system.kernel
}
const kernel = ordinaryKernel()

function worker(linux: Partial<LinuxSystemFacts>, spec: readonly string[] = []) {
  return checkCase({ spec, facts: { etcd1: { linux }, w1: { linux } } })
}

test.each<Partial<LinuxSystemFacts>>([
  { programs: [] },
  { kernel: { ...kernel, iptables: false }, programs: ['iptables'] },
  { kernel: { ...kernel, nftables: false }, programs: ['nft'] },
])('a node without nftables and iptables is an error: %j', (linux) => {
  expect(worker(linux)).toMatchObject([{ code: 'HOST_NO_PACKET_FILTER', severity: 'error', host: 'w1' }])
})

test('the hint is the install command of the distribution', () => {
  const distribution = { id: 'rocky', version: '9.6', name: 'Rocky Linux 9.6' }
  expect(worker({ programs: [] })[0]?.hint).toBe('apt-get install nftables')
  expect(worker({ programs: [], distribution })[0]?.hint).toBe('dnf install nftables')
  const unknown = { ...distribution, id: 'mine' }
  const old = { ...kernel, nftables: false }
  expect(worker({ programs: [], distribution: unknown, kernel: old })[0]?.hint).toBe('install iptables')
})

test('nftables or iptables alone is sufficient', () => {
  expect(worker({ programs: ['nft'] })).toEqual([])
  expect(worker({ programs: ['iptables'], kernel: { ...kernel, nftables: false } })).toEqual([])
})

test('a node with Docker needs iptables', () => {
  const found = checkCaseBriefly({ facts: { w1: { linux: { firewalls: ['docker'], programs: ['nft'] } } } })
  expect(found).toEqual(['w1 error HOST_NO_PACKET_FILTER', 'w1 warning HOST_DOCKER'])
})

test.each([
  ['nftables', 'iptables'],
  ['iptables', 'nft'],
])('a kube-proxy mode of cluster.yml that the host lacks is an error: %s', (mode, program) => {
  const spec = [`components: { kubeProxy: { mode: ${mode} } }`]
  expect(worker({ programs: [program] }, spec)).toMatchObject([
    {
      code: 'HOST_PROXY_MODE',
      message: `cluster.yml sets kube-proxy to ${mode}, but the host has no ${mode}`,
      host: 'w1',
    },
  ])
})

test('a mode in kubeProxy.config is checked too', () => {
  const spec = ['components: { kubeProxy: { config: { mode: nftables } } }']
  expect(worker({ programs: ['iptables'] }, spec)).toMatchObject([{ code: 'HOST_PROXY_MODE' }])
})

test('kube-proxy mode nftables on a kernel before 5.13 is an error; the default mode is not', () => {
  const old = { kernel: { ...kernel, release: '5.10.0-30-amd64' } }
  expect(worker(old)).toEqual([])
  expect(worker(old, ['components: { kubeProxy: { mode: nftables } }'])).toMatchObject([
    { code: 'HOST_PROXY_MODE', hint: 'mode: iptables', host: 'w1' },
  ])
  expect(worker({ kernel: { ...kernel, release: '5.13.0' } })).toEqual([])
})

function hint(
  host: string,
  firewall: 'firewalld' | 'ufw',
  spec: readonly string[] = [],
  lines?: readonly string[],
) {
  const found = checkCase({
    spec,
    facts: { [host]: { linux: { firewalls: [firewall] } } },
    ...(lines === undefined ? {} : { hosts: lines }),
  })
  expect(found).toMatchObject([{ code: 'HOST_FIREWALL', severity: 'warning', host }])
  return found[0]?.hint
}

test('the firewall hint of a dedicated etcd host opens only the etcd ports', () => {
  expect(hint('etcd1', 'firewalld')).toBe(
    'firewall-cmd --permanent --add-port=2379/tcp --add-port=2380/tcp && firewall-cmd --reload',
  )
})

test('the firewall hint of a worker opens the kubelet and vxlan ports and allows pod traffic', () => {
  expect(hint('w1', 'ufw')).toBe(
    [
      'ufw allow 10250/tcp',
      'ufw allow 4789/udp',
      'ufw allow from 10.244.0.0/16',
      'ufw route allow from 10.244.0.0/16',
      'ufw route allow to 10.244.0.0/16',
    ].join(' && '),
  )
})

test('the firewall hint of a control plane uses the API port and backend of cluster.yml', () => {
  const spec = ['api: { port: 8443 }', 'network: { flannel: { backend: host-gw } }']
  expect(hint('cp1', 'firewalld', spec, defaultHostLines.slice(0, 1))).toBe(
    [
      'firewall-cmd --permanent --add-port=2379/tcp --add-port=2380/tcp --add-port=8443/tcp --add-port=10250/tcp',
      'firewall-cmd --permanent --zone=trusted --add-source=10.244.0.0/16',
      'firewall-cmd --reload',
    ].join(' && '),
  )
})
