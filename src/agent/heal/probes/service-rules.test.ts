import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CommandResult } from '../../../kit/command.ts'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import type { Asked, TestAnswer } from '../../../kit/testing/https-test-server.ts'
import type { Seen } from '../probe-result.ts'
import { type Prober, prober } from './prober.ts'
import { iptablesRules, nftRules } from './service-rules.ts'
import { type TestApi, testApi } from './testing/fake-probe-api.ts'
import { type TestEdges, testComponent, testEdges, testProbe } from './testing/fake-probe-deps.ts'

interface TestService {
  readonly name: string
  readonly clusterIP: string
  readonly created?: string
  readonly spec?: object
  readonly labels?: Readonly<Record<string, string>>
  readonly ready?: boolean
}

let authority: TestAuthority
let api: TestApi
let services: readonly TestService[]
let filter: Partial<CommandResult>
let edges: TestEdges
let one: Prober
const dns = { name: 'dns', clusterIP: '10.96.0.10' }
const known = { stdout: 'elements = { 10.96.0.10 . tcp . 53 : goto service-X-default/dns/tcp/main }' }
const gone = { code: 1, stderr: 'Error: No such file or directory\nlist map ip kube-proxy service-ips' }

beforeAll(async () => {
  authority = await testAuthority()
  api = await testApi(authority, answer)
})
afterAll(async () => api[Symbol.asyncDispose]())
beforeEach(() => {
  one?.[Symbol.dispose]()
  services = [dns]
  filter = known
  edges = testEdges(() => filter)
  edges.texts.set('/kubeconfig', api.kubeconfig)
  one = prober(edges)
})

function answer({ path, query }: Asked): TestAnswer {
  const only = /metadata.name=(.*)/.exec(query.get('fieldSelector') ?? '')?.[1]
  const label = /service-name=(.*)/.exec(query.get('labelSelector') ?? '')?.[1]
  const items = services.filter(({ name }) => [undefined, name].includes(only ?? label))
  return { json: { items: path.endsWith('/services') ? items.map(serviceOf) : items.map(sliceOf) } }
}

function serviceOf({
  name,
  clusterIP,
  created = '2026-12-01T00:00:00Z',
  spec,
  labels,
}: TestService): unknown {
  return {
    metadata: { name, namespace: 'default', creationTimestamp: created, ...(labels ? { labels } : {}) },
    spec: { clusterIP, type: 'ClusterIP', ports: [{ name: 'main', protocol: 'TCP', port: 53 }], ...spec },
  }
}

function sliceOf({ name, ready }: TestService): unknown {
  return {
    metadata: { namespace: 'default', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ conditions: ready === undefined ? {} : { ready } }],
    ports: [{ name: 'main', port: 53 }],
  }
}

async function ask(mode: 'nftables' | 'iptables' = 'nftables'): Promise<Seen> {
  return one.ask(
    testProbe({ kind: 'service-rules', mode, kubeconfig: '/kubeconfig' }),
    testComponent('kube-proxy'),
    new AbortController().signal,
  )
}

test('services that the packet filter knows are well, and the API is asked once a minute', async () => {
  const before = api.asked.length
  for (const _ of [1, 2, 3]) expect(await ask()).toEqual({ state: 'well' })
  expect(api.asked.slice(before).map(({ path }) => path)).toEqual([
    '/api/v1/services',
    '/apis/discovery.k8s.io/v1/endpointslices',
  ])
  expect(edges.ran.length).toBe(3)
})

test('a filter that was flushed, as a whole or of one service', async () => {
  filter = gone
  expect(await ask()).toEqual({
    state: 'failed',
    code: 'SERVICE_RULES',
    seen: 'the packet filter knows no service at all',
  })
  filter = known
  services = [dns, { name: 'web', clusterIP: '10.96.0.11' }]
  edges.time += 60_001
  expect(await ask()).toEqual({
    state: 'failed',
    code: 'SERVICE_RULES',
    seen: 'the packet filter does not know default/web (10.96.0.11 tcp 53)',
  })
})

test('a service that is gone since the last list is not missed', async () => {
  expect(await ask()).toEqual({ state: 'well' })
  filter = gone
  services = []
  expect(await ask()).toEqual({ state: 'well' })
})

test.each<readonly [string, TestService]>([
  ['headless', { name: 'x', clusterIP: 'None' }],
  ['of another family', { name: 'x', clusterIP: 'fd00::1' }],
  ['a name for another', { name: 'x', clusterIP: '10.96.0.1', spec: { type: 'ExternalName' } }],
  ['only for its own node', { name: 'x', clusterIP: '10.96.0.1', spec: { internalTrafficPolicy: 'Local' } }],
  [
    'for another proxy',
    { name: 'x', clusterIP: '10.96.0.1', labels: { 'service.kubernetes.io/service-proxy-name': 'y' } },
  ],
  ['without anybody behind it', { name: 'x', clusterIP: '10.96.0.1', ready: false }],
  ['young', { name: 'x', clusterIP: '10.96.0.1', created: '2026-12-31T23:59:30Z' }],
])('a service that is %s is not missed', async (_, service) => {
  services = [dns, service]
  expect(await ask()).toEqual({ state: 'well' })
})

test('a filter that cannot be asked says nothing', async () => {
  filter = { code: 1, stderr: 'Error: Operation not permitted' }
  expect(await ask()).toMatchObject({ state: 'unknown', seen: 'Error: Operation not permitted' })
})

test('rules of nftables and iptables are read as kube-proxy writes them', async () => {
  const map = `table ip kube-proxy {
	map service-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
		comment "ClusterIP, ExternalIP and LoadBalancer IP traffic"
		elements = { 10.96.0.10 . udp . 53 : goto service-FY5PMXPG-kube-system/kube-dns/udp/dns,
			     10.96.0.1 . tcp . 443 : goto service-2QRHZV4L-default/kubernetes/tcp/https }
	}
}`
  expect([...nftRules(map)]).toEqual(['10.96.0.10 udp 53', '10.96.0.1 tcp 443'])
  const rules = `:KUBE-SERVICES - [0:0]
-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "default/kubernetes:https cluster IP" -m tcp --dport 443 -j KUBE-SVC-NPX46M4PTMTKRN6Y
-A KUBE-SERVICES -m comment --comment "kubernetes service nodeports" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-SVC-NPX46M4PTMTKRN6Y ! -s 10.244.0.0/16 -d 10.96.0.2/32 -p tcp -m tcp --dport 443 -j KUBE-MARK-MASQ
`
  expect([...iptablesRules(rules)]).toEqual(['10.96.0.1 tcp 443'])
  services = [{ name: 'kubernetes', clusterIP: '10.96.0.1', spec: { ports: [{ name: 'main', port: 443 }] } }]
  filter = { stdout: rules }
  expect(await ask('iptables')).toEqual({ state: 'well' })
  filter = {}
  expect(await ask('iptables')).toMatchObject({ code: 'SERVICE_RULES' })
})
