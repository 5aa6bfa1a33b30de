import { expect, test } from 'vitest'
import { readCluster } from './read-cluster.ts'

const good = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata:
  name: production
spec:
  kubernetes: 1.37.1
  hosts:
    - name: cp1
      address: 192.168.1.11
      roles: [control-plane]
    - name: w1
      address: 192.168.1.21
      roles: [worker]
`

/** Reads a text and formats its findings as lines. */
function formatFindings(text: string): string[] {
  return readCluster({ file: 'cluster.yml', text }).findings.map(
    ({ position, path, message, hint, severity }) => {
      const where = `${position?.line}:${position?.column}`
      return `${where} ${severity} ${path ?? ''}: ${message}${hint === undefined ? '' : ` (${hint})`}`
    },
  )
}

test('a minimal cluster.yml is valid and gets the network defaults', () => {
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text: good })
  expect(findings).toEqual([])
  expect(cluster?.spec.network).toMatchObject({ pods: ['10.244.0.0/16'], flannel: { vni: 4096, port: 4789 } })
})

test('NetworkPolicy is enforced by default; none is possible and says what it means', () => {
  expect(readCluster({ file: 'cluster.yml', text: good }).cluster?.spec.network.policy).toBe('kube-router')
  expect(formatFindings(`${good}  network: { policy: none }\n`)).toEqual([
    '14:22 warning spec.network.policy: NetworkPolicy objects are not enforced: every pod can reach every other pod (policy: kube-router)',
  ])
  expect(formatFindings(`${good}  network: { plugin: none }\n`)).toEqual([])
})

test('without kube-proxy the network plugin must be another one, and no host runs Windows', () => {
  expect(formatFindings(`${good}  network: { plugin: none, kubeProxy: none }\n`)).toEqual([])
  expect(formatFindings(`${good}  network: { kubeProxy: none }\n`)).toEqual([
    '14:25 error spec.network.kubeProxy: flannel does not replace kube-proxy: no Service would work (remove it, or set network.plugin: none and install a plugin that replaces kube-proxy)',
  ])
  const windows = good.replace(
    '  hosts:\n',
    '  hosts:\n    - { name: win1, address: 192.168.1.31, os: windows, roles: [worker] }\n',
  )
  expect(formatFindings(`${windows}  network: { plugin: none, kubeProxy: none }\n`)).toEqual([
    '15:39 error spec.network.kubeProxy: Windows hosts need kube-proxy (remove it, or the Windows hosts)',
  ])
})

test('kube-proxy of Windows needs the HNS network of another plugin', () => {
  const config = '{ winkernel: { networkName: Calico, sourceVip: 10.244.3.9 } }'
  const read = (settings: string, components = ''): string[] =>
    formatFindings(
      `${good.replace('  hosts:\n', `  hosts:\n    - { name: win1, address: 192.168.1.31, os: windows, roles: [worker]${settings} }\n`)}  network: { plugin: none }\n${components}`,
    )
  expect(read('')).toEqual([
    expect.stringContaining(
      'warning spec.hosts[0]: kube-proxy of Windows exits without the name of the HNS network',
    ),
  ])
  expect(read(`, components: { kubeProxy: { config: ${config} } }`)).toEqual([])
  expect(read('', `  components: { kubeProxy: { config: ${config} } }\n`)).toEqual([])
})

test('the network addon must be an enabled addon, and the only pod network', () => {
  const addon = (settings: string) => `  addons: [{ name: calico, files: [calico.yml]${settings} }]\n`
  const network = '  network: { plugin: none, addon: calico }\n'
  expect(formatFindings(`${good}${network}${addon('')}`)).toEqual([])
  const missing = ['14:35 error spec.network.addon: spec.addons has no enabled addon calico']
  expect(formatFindings(`${good}${network}`)).toEqual(missing)
  expect(formatFindings(`${good}${network}${addon(', enabled: false')}`)).toEqual(missing)
  expect(formatFindings(`${good}  network: { addon: calico }\n${addon('')}`)).toEqual([
    '14:21 error spec.network.addon: flannel is the pod network (network.plugin: none)',
  ])
})

test('the virtual IP is neither the address of a host nor one of pods or services', () => {
  const read = (address: string): string[] => formatFindings(`${good}  api: { virtualIP: ${address} }\n`)
  expect(read('192.168.1.10')).toEqual([])
  expect(read('192.168.1.11')).toEqual([
    '14:21 error spec.api.virtualIP: 192.168.1.11 is the address of the host cp1 (use an address of the subnet that no machine has)',
  ])
  expect(read('10.244.3.1')).toEqual([
    '14:21 error spec.api.virtualIP: 10.244.3.1 is in spec.network.pods 10.244.0.0/16',
  ])
  expect(read('vip.example.com')).toEqual(['14:21 error spec.api.virtualIP: must be an IPv4 address'])
})

test('all problems are reported at once, each with its position and a suggestion', () => {
  const text = `apiVersion: hyperkube.dev/v1
kind: Clusters
metadata:
  name: Production
spec:
  kubernetes: 1.37
  hosts:
    - name: cp1
      adress: 192.168.1.11
      roles: [controlplane]
  network:
    pods: 10.244.0.0/40
    flannel: { vni: "4096" }
`
  expect(formatFindings(text)).toMatchInlineSnapshot(`
    [
      "2:7 error kind: must be Cluster (did you mean Cluster?)",
      "4:9 error metadata.name: must be a DNS label: lower-case letters, digits and dashes",
      "6:15 error spec.kubernetes: must be a version such as "1.37.1"; quote it, or YAML reads a number",
      "8:7 error spec.hosts[0].address: is missing",
      "9:7 error spec.hosts[0].adress: unknown setting "adress" (did you mean address?)",
      "10:15 error spec.hosts[0].roles[0]: must be control-plane, etcd or worker (did you mean control-plane?)",
      "12:11 error spec.network.pods: must be a network such as 10.244.0.0/16",
      "13:21 error spec.network.flannel.vni: must be a number, not text",
    ]
  `)
})

test('conflicts between fields are reported with their positions', () => {
  const text = `${good}    - name: w1
      address: 192.168.1.11
      os: windows
      roles: [worker, etcd]
  network:
    pods: 192.168.0.1/16
    services: 192.168.128.0/24
    flannel: { port: 8472 }
`
  expect(formatFindings(text)).toMatchInlineSnapshot(`
    [
      "8:7 error spec.hosts[0]: 192.168.1.11 is in spec.network.pods 192.168.0.1/16",
      "11:7 error spec.hosts[1]: 192.168.1.21 is in spec.network.pods 192.168.0.1/16",
      "14:7 error spec.hosts[2]: 192.168.1.11 is in spec.network.pods 192.168.0.1/16",
      "14:13 error spec.hosts[2].name: w1 is also the name of hosts[1]",
      "15:16 error spec.hosts[2].address: 192.168.1.11 is also the address of hosts[0]",
      "17:14 error spec.hosts[2].roles: a Windows host can only be a worker",
      "19:11 error spec.network.pods: 192.168.0.1/16 is a host address, not a network address",
      "20:15 error spec.network.services: 192.168.128.0/24 overlaps spec.network.pods 192.168.0.1/16",
      "21:14 error spec.network.flannel: with Windows hosts flannel must use backend vxlan, VNI 4096 and port 4789",
    ]
  `)
})

test('maxPods of a single host must fit into the pod network of its node', () => {
  const text = good.replace(
    'roles: [worker]',
    'roles: [worker]\n      components: { kubelet: { maxPods: 300, args: { v: 4 } } }',
  )
  expect(formatFindings(text)).toEqual([
    '14:41 error spec.hosts[1].components.kubelet.maxPods: a /24 per node has space for 253 pods, not for 300',
  ])
})

test('spec.windows.baseDirectory has a default and can be set', () => {
  const baseDirectory = (more: string) =>
    readCluster({ file: 'cluster.yml', text: good + more }).cluster?.spec.windows.baseDirectory
  expect(baseDirectory('')).toBe('C:\\hyperkube')
  expect(baseDirectory(String.raw`  windows: { baseDirectory: D:\apps\k8s-1.x }`)).toBe('D:\\apps\\k8s-1.x')
})

test('spec.windows.cloud and metadataAddresses have defaults, and wrong values are reported', () => {
  const { cluster } = readCluster({ file: 'cluster.yml', text: good })
  expect(cluster?.spec.windows).toMatchObject({ cloud: 'none', metadataAddresses: [] })
  expect(formatFindings(`${good}  windows: { cloud: gce, metadataAddresses: [169.254.169.254/32] }\n`))
    .toMatchInlineSnapshot(`
    [
      "14:21 error spec.windows.cloud: must be none, aws, azure or gcp (did you mean gcp?)",
      "14:46 error spec.windows.metadataAddresses[0]: must be an IPv4 address",
    ]
  `)
})

test.each([
  'C:\\Program Files\\hyperkube',
  'C:\\',
  'C:hyperkube',
  'C:/hyperkube',
  '/opt/hyperkube',
  '\\\\server\\share',
  'C:\\hyperkube\\..\\Windows',
  'C:\\hyperkube\\',
])('spec.windows.baseDirectory %s is refused', (directory) => {
  expect(formatFindings(`${good}  windows: { baseDirectory: '${directory}' }`)).toEqual([
    String.raw`14:29 error spec.windows.baseDirectory: must be an absolute Windows path without spaces, such as C:\hyperkube`,
  ])
})

test.each([
  ['an empty file', ''],
  ['a file with only a comment', '# later\n'],
  ['plain text', 'hello'],
  ['a list', '- a\n'],
  ['broken YAML', 'a: [b\n'],
  ['a tab', 'a:\n\tb: c\n'],
  ['a duplicate key', 'kind: Cluster\nkind: Cluster\n'],
  ['two documents', `${good}---\n${good}`],
  ['an alias to nothing', 'a: *b\n'],
  [
    'nested aliases that expand exponentially',
    `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]\n`,
  ],
  ['ten megabytes', 'x'.repeat(10_000_000)],
  ['control characters', `${good}  \u202Ename: "\u0000"\n`],
])('%s gives findings and no cluster', (_what, text) => {
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text })
  expect(cluster).toBeUndefined()
  expect(findings.length).toBeGreaterThan(0)
})

test('a password in a proxy URL is refused and not printed', () => {
  const [finding = ''] = formatFindings(
    `${good}  proxy: { http: 'http://me:hunter2@proxy.example.com:3128' }`,
  )
  expect(finding).toContain('spec.proxy.http: must not contain a user or a password')
  expect(finding).not.toContain('hunter2')
})

test('built-in addons are enabled by default and can be disabled with none', () => {
  const spec = (more: string) => readCluster({ file: 'cluster.yml', text: good + more }).cluster?.spec
  expect(spec('')).toMatchObject({
    dns: { patches: [] },
    metrics: {},
    ingress: { httpPort: 80, httpsPort: 443, defaultClass: true },
    storage: { path: '/var/lib/hyperkube-volumes', reclaimPolicy: 'Delete' },
    addons: [],
  })
  expect(spec('  dns: none\n  metrics: none\n  ingress: none\n  storage: none\n')).toMatchObject({
    dns: 'none',
    metrics: 'none',
    ingress: 'none',
    storage: 'none',
  })
})

test('a problem inside an addon is reported at its position', () => {
  const text = `${good}  dns: { replica: 3, forward: [one.one.one.one] }
  metrics: off
  ingress: { httpPort: 70000 }
  addons:
    - { name: shop }
    - { name: shop2, urls: [{ url: "ftp://example.com/x.yml", sha256: abc }], timeout: soon }
`
  expect(formatFindings(text)).toMatchInlineSnapshot(`
    [
      "14:10 error spec.dns.replica: unknown setting "replica" (did you mean replicas?)",
      "14:32 error spec.dns.forward[0]: must be an IP address",
      "15:12 error spec.metrics: must be none or a map of settings",
      "16:24 error spec.ingress.httpPort: must be at most 65535",
      "18:7 error spec.addons[0]: needs files, urls, inline or chart",
      "19:36 error spec.addons[1].urls[0].url: must be an http or https URL",
      "19:71 error spec.addons[1].urls[0].sha256: must be 64 hexadecimal digits: curl -sL URL | sha256sum",
      "19:88 error spec.addons[1].timeout: must be a duration such as 90s, 5m or 1h30m",
    ]
  `)
})

test('conflicts between addon settings are reported with their positions', () => {
  const text = `${good}  dns: { forward: [192.0.2.53, 127.0.0.53, 10.96.0.10] }
  ingress: { httpPort: 6443, httpsPort: 6443 }
  storage: { path: /var/lib/hyperkube/volumes }
  addons:
    - { name: coredns, files: [a.yml] }
    - { name: shop, files: [https://example.com/a.yml] }
    - { name: shop, inline: "kind: List" }
`
  expect(formatFindings(text)).toMatchInlineSnapshot(`
    [
      "14:32 error spec.dns.forward[1]: 127.0.0.53 is an address of CoreDNS itself or of another Service of the cluster",
      "14:44 error spec.dns.forward[2]: 10.96.0.10 is an address of CoreDNS itself or of another Service of the cluster",
      "15:24 error spec.ingress.httpPort: 6443 is also the API port on the same hosts (set another port, or ingress: none)",
      "15:41 error spec.ingress.httpsPort: is also httpPort",
      "15:41 error spec.ingress.httpsPort: 6443 is also the API port on the same hosts (set another port, or ingress: none)",
      "16:20 error spec.storage.path: /var/lib/hyperkube is reserved: volumes there would be lost (use a directory only for volumes)",
      "18:15 error spec.addons[0].name: coredns is an addon of hyperkube (use another name)",
      "19:29 error spec.addons[1].files[0]: is an address, not a file (urls: [{ url: …, sha256: … }])",
      "20:15 error spec.addons[2].name: shop is also the name of addons[1]",
    ]
  `)
})

test.each(['relative', '/', '/a/../b', '/a//b', '/a b', 'C:\\\\data'])(
  'spec.storage.path %s is refused',
  (path) => {
    expect(formatFindings(`${good}  storage: { path: "${path}" }\n`)).toEqual([
      expect.stringContaining('spec.storage.path: must be an absolute path such as /srv/volumes'),
    ])
  },
)

test('the timeout of an addon is a duration with a default of five minutes', () => {
  const text = `${good}  addons: [{ name: a, files: [a.yml] }, { name: b, files: [b.yml], timeout: 1m30s }]\n`
  const { cluster } = readCluster({ file: 'cluster.yml', text })
  expect(cluster?.spec.addons.map(({ timeout }) => timeout)).toEqual([300_000, 90_000])
})

test.each([
  ['at the top', '', '1'],
  ['as labels', 'spec:\n  hosts:\n    - name: a\n      labels:\n', '1'],
  ['at the top, each with a list,', '', '[a, b]'],
  ['at the top, each with a long list,', '', '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]'],
  ['as labels, each with a list,', 'spec:\n  hosts:\n    - name: a\n      labels:\n', '[a, b]'],
])('the time to refuse many keys %s grows linearly with their number', (_, head, value) => {
  const indent = ' '.repeat(head === '' ? 0 : 8)
  // The test measures CPU time, because other programs may run at the same time.
  const measure = (count: number): number => {
    const keys = Array.from({ length: count }, (__, index) => `${indent}key${index}: ${value}\n`)
    const start = process.cpuUsage()
    const { findings } = readCluster({ file: 'cluster.yml', text: head + keys.join('') })
    expect(findings.length).toBeGreaterThan(0)
    return process.cpuUsage(start).user / 1000
  }
  const [few, many] = [measure(2000), measure(20_000)]
  process.stdout.write(`2,000 keys: ${few.toFixed(0)} ms, 20,000 keys: ${many.toFixed(0)} ms\n`)
  // The expected factor is 10. Quadratic growth would give 100.
  expect(many / few).toBeLessThan(25)
  expect(many).toBeLessThan(6000)
})

test('a file with 5,000 hosts is not too large, and one with 8,000 hosts is refused', () => {
  const host = (index: number): string =>
    `    - { name: h${index}, address: 10.1.${index >> 8}.${index & 255}, roles: [worker], labels: { a: b, c: d } }\n`
  const read = (count: number): readonly string[] => {
    const text = `${good}${Array.from({ length: count }, (_, index) => host(index)).join('')}`
    return readCluster({ file: 'cluster.yml', text }).findings.map(({ code }) => code)
  }
  expect(read(5000)).not.toContain('SPEC_TOO_LARGE')
  expect(read(8000)).toEqual(['SPEC_TOO_LARGE'])
})

test('a duplicate key is reported at its second position', () => {
  const { findings } = readCluster({ file: 'cluster.yml', text: 'a: 1\nb:\n  c: 1\n  c: 2\na: 3\n' })
  expect(findings.map(({ code, position }) => [code, position?.line, position?.column])).toEqual([
    ['SPEC_NOT_YAML', 5, 1],
    ['SPEC_NOT_YAML', 4, 3],
  ])
})
