import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CommandResult } from '../../../kit/command.ts'
import type { ReceivedRequest, TestResponse } from '../../../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../../../kit/testing/test-ca.ts'
import { FakeKubeApi } from '../../../kube/testing/fake-kube-api.ts'
import type { ProbeResult } from './probe-runner.ts'
import { createProber, type Prober } from './prober.ts'
import { parseIptablesRules, parseNftRules } from './service-rules.ts'
import { type ProbeApiServer, startProbeApiServer } from './testing/probe-api-server.ts'
import {
  createFakeProbeDeps,
  type FakeProbeDeps,
  testComponent,
  testProbe,
} from './testing/fake-probe-deps.ts'

interface TestService {
  readonly name: string
  readonly clusterIP: string
  readonly created?: string
  readonly spec?: object
  readonly labels?: Readonly<Record<string, string>>
  readonly ready?: boolean
  readonly ipv6Ready?: boolean
}

let ca: TestCa
let api: ProbeApiServer
let services: readonly TestService[]
let filter: Partial<CommandResult>
let ipv6Filter: Partial<CommandResult>
let deps: FakeProbeDeps
let probes: Prober
const dns = { name: 'dns', clusterIP: '10.96.0.10' }
const known = { stdout: 'elements = { 10.96.0.10 . tcp . 53 : goto service-X-default/dns/tcp/main }' }
const knownIpv6 = { stdout: 'elements = { fd00:10:96::a . tcp . 53 : goto service-X-default/dns/tcp/main }' }
const flushed = { code: 1, stderr: 'Error: No such file or directory\nlist map ip kube-proxy service-ips' }

beforeAll(async () => {
  ca = await createTestCa()
  api = await startProbeApiServer(ca, respond)
})
afterAll(async () => api[Symbol.asyncDispose]())
beforeEach(() => {
  probes?.[Symbol.dispose]()
  services = [dns]
  filter = known
  ipv6Filter = knownIpv6
  deps = createFakeProbeDeps((argv) =>
    argv.includes('ip6') || argv[0] === 'ip6tables-save' ? ipv6Filter : filter,
  )
  deps.texts.set('/kubeconfig', api.kubeconfig)
  probes = createProber(deps)
})

function respond(request: ReceivedRequest): TestResponse {
  const cluster = new FakeKubeApi()
  for (const service of services) {
    cluster.put(`/api/v1/namespaces/default/services/${service.name}`, buildService(service))
    cluster.put(
      `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/${service.name}`,
      buildSlice(service),
    )
    cluster.put(
      `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/${service.name}-ipv6`,
      buildSlice({ ...service, ready: service.ready ?? service.ipv6Ready ?? true }, 'IPv6'),
    )
  }
  return cluster.respond(request)
}

function buildService({ name, clusterIP, created = '2026-12-01T00:00:00Z', spec, labels }: TestService) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', creationTimestamp: created, ...(labels ? { labels } : {}) },
    spec: { clusterIP, type: 'ClusterIP', ports: [{ name: 'main', protocol: 'TCP', port: 53 }], ...spec },
  }
}

function buildSlice({ name, ready }: TestService, addressType = 'IPv4') {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', labels: { 'kubernetes.io/service-name': name } },
    addressType,
    endpoints: [{ conditions: ready === undefined ? {} : { ready } }],
    ports: [{ name: 'main', port: 53 }],
  }
}

async function runProbe(mode: 'nftables' | 'iptables' = 'nftables', ipv6?: true): Promise<ProbeResult> {
  return probes.run(
    testProbe({ kind: 'service-rules', mode, kubeconfig: '/kubeconfig', ...(ipv6 ? { ipv6 } : {}) }),
    testComponent('kube-proxy'),
    new AbortController().signal,
  )
}

test('Services with rules are healthy, and the API is queried once a minute', async () => {
  const before = api.requests.length
  for (const _ of [1, 2, 3]) expect(await runProbe()).toEqual({ state: 'healthy' })
  expect(api.requests.slice(before).map(({ path }) => path)).toEqual([
    '/api/v1/services',
    '/apis/discovery.k8s.io/v1/endpointslices',
  ])
  expect(deps.ran.length).toBe(3)
})

test('missing rules of all Services or of one Service are reported', async () => {
  filter = flushed
  expect(await runProbe()).toEqual({
    state: 'unhealthy',
    code: 'SERVICE_RULES',
    message: 'kube-proxy has written no Service rules',
  })
  filter = known
  services = [dns, { name: 'web', clusterIP: '10.96.0.11' }]
  deps.time += 60_001
  expect(await runProbe()).toEqual({
    state: 'unhealthy',
    code: 'SERVICE_RULES',
    message: 'kube-proxy has written no rules for default/web (10.96.0.11 tcp 53)',
  })
})

test('a Service that was deleted since the last list needs no rules', async () => {
  expect(await runProbe()).toEqual({ state: 'healthy' })
  filter = flushed
  services = []
  expect(await runProbe()).toEqual({ state: 'healthy' })
})

test.each<readonly [string, TestService]>([
  ['without a cluster IP', { name: 'x', clusterIP: 'None' }],
  ['of another IP family', { name: 'x', clusterIP: 'fd00::1' }],
  ['of type ExternalName', { name: 'x', clusterIP: '10.96.0.1', spec: { type: 'ExternalName' } }],
  [
    'with the internal traffic policy Local',
    { name: 'x', clusterIP: '10.96.0.1', spec: { internalTrafficPolicy: 'Local' } },
  ],
  [
    'of another service proxy',
    { name: 'x', clusterIP: '10.96.0.1', labels: { 'service.kubernetes.io/service-proxy-name': 'y' } },
  ],
  ['without ready endpoints', { name: 'x', clusterIP: '10.96.0.1', ready: false }],
  ['created a short time ago', { name: 'x', clusterIP: '10.96.0.1', created: '2026-12-31T23:59:30Z' }],
])('a Service %s needs no rules', async (_, service) => {
  services = [dns, service]
  expect(await runProbe()).toEqual({ state: 'healthy' })
})

test('in a dual-stack cluster the rules of both families are checked', async () => {
  const clusterIPs = ['10.96.0.10', 'fd00:10:96::a']
  services = [{ ...dns, spec: { clusterIPs } }]
  expect(await runProbe('nftables', true)).toEqual({ state: 'healthy' })
  ipv6Filter = flushed
  expect(await runProbe()).toEqual({ state: 'healthy' })
  expect(await runProbe('nftables', true)).toMatchObject({
    code: 'SERVICE_RULES',
    message: 'kube-proxy has written no rules for default/dns (fd00:10:96::a tcp 53)',
  })
  services = [{ ...dns, spec: { clusterIPs }, ipv6Ready: false }]
  deps.time += 60_001
  expect(await runProbe('nftables', true)).toEqual({ state: 'healthy' })
  services = [{ ...dns, spec: { clusterIPs } }]
  deps.time += 60_001
  filter = { stdout: '-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m tcp --dport 53 -j KUBE-SVC-A\n' }
  ipv6Filter = { stdout: '-A KUBE-SERVICES -d fd00:10:96::a/128 -p tcp -m tcp --dport 53 -j KUBE-SVC-A\n' }
  expect(await runProbe('iptables', true)).toEqual({ state: 'healthy' })
  ipv6Filter = {}
  expect(await runProbe('iptables', true)).toMatchObject({ code: 'SERVICE_RULES' })
})

test('rules that cannot be read make the probe unknown', async () => {
  filter = { code: 1, stderr: 'Error: Operation not permitted' }
  expect(await runProbe()).toMatchObject({ state: 'unknown', message: 'Error: Operation not permitted' })
})

test('rules of nftables and iptables are parsed as kube-proxy writes them', async () => {
  const map = `table ip kube-proxy {
	map service-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
		comment "ClusterIP, ExternalIP and LoadBalancer IP traffic"
		elements = { 10.96.0.10 . udp . 53 : goto service-FY5PMXPG-kube-system/kube-dns/udp/dns,
			     10.96.0.1 . tcp . 443 : goto service-2QRHZV4L-default/kubernetes/tcp/https }
	}
}`
  expect([...parseNftRules(map)]).toEqual(['10.96.0.10 udp 53', '10.96.0.1 tcp 443'])
  const rules = `:KUBE-SERVICES - [0:0]
-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "default/kubernetes:https cluster IP" -m tcp --dport 443 -j KUBE-SVC-NPX46M4PTMTKRN6Y
-A KUBE-SERVICES -m comment --comment "kubernetes service nodeports" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-SVC-NPX46M4PTMTKRN6Y ! -s 10.244.0.0/16 -d 10.96.0.2/32 -p tcp -m tcp --dport 443 -j KUBE-MARK-MASQ
`
  expect([...parseIptablesRules(rules)]).toEqual(['10.96.0.1 tcp 443'])
  services = [{ name: 'kubernetes', clusterIP: '10.96.0.1', spec: { ports: [{ name: 'main', port: 443 }] } }]
  filter = { stdout: rules }
  expect(await runProbe('iptables')).toEqual({ state: 'healthy' })
  filter = {}
  expect(await runProbe('iptables')).toMatchObject({ code: 'SERVICE_RULES' })
})
