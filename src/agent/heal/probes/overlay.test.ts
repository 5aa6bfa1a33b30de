import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestCa, type TestCa } from '../../../kit/testing/test-ca.ts'
import { listRoutedIpv6Networks, listRoutedNetworks } from './kernel-routes.ts'
import { selectFollowing } from './node-reader.ts'
import type { ProbeResult } from './probe-runner.ts'
import { createProber, type Prober } from './prober.ts'
import {
  type FakeNode,
  type ProbeApiServer,
  createNodesApi,
  startProbeApiServer,
} from './testing/probe-api-server.ts'
import {
  createFakeProbeDeps,
  type FakeProbeDeps,
  testComponent,
  testProbe,
} from './testing/fake-probe-deps.ts'

const check = {
  kind: 'overlay',
  interface: 'flannel.1',
  subnetFile: '/run/flannel/subnet.env',
  node: 'a',
  kubeconfig: '/kubeconfig',
} as const
const three: readonly FakeNode[] = ['a', 'b', 'c'].map((name, index) => ({
  name,
  pods: [`10.244.${index}.0/24`],
}))

let ca: TestCa
let api: ProbeApiServer
let nodes: readonly FakeNode[]
let isDown = false
let deps: FakeProbeDeps
let probes: Prober

beforeAll(async () => {
  ca = await createTestCa()
  api = await startProbeApiServer(ca, (request) =>
    isDown ? { cut: 'before' } : createNodesApi(nodes).respond(request),
  )
})
afterAll(async () => api[Symbol.asyncDispose]())
beforeEach(() => {
  probes?.[Symbol.dispose]()
  nodes = three
  isDown = false
  deps = createFakeProbeDeps()
  probes = createProber(deps)
  deps.texts.set('/kubeconfig', api.kubeconfig)
  deps.texts.set(check.subnetFile, 'FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.0.1/24\n')
  deps.links.set('flannel.1', ['10.244.0.0'])
  setRoutes(1, 2)
})

function setRoutes(...parts: readonly number[]): void {
  const lines = parts.map(
    (part) => `flannel.1\t000${part}F40A\t000${part}F40A\t0003\t0\t0\t0\t00FFFFFF\t0\t0\t0`,
  )
  deps.texts.set('/proc/net/route', ['Iface\tDestination', ...lines, ''].join('\n'))
}

async function runProbe(): Promise<ProbeResult> {
  return probes.run(testProbe(check), testComponent('flanneld'), new AbortController().signal)
}

test('a complete overlay network is healthy, and the API is queried once a minute', async () => {
  expect(await runProbe()).toEqual({ state: 'healthy' })
  const before = api.requests.length
  deps.time += 30_000
  expect(await runProbe()).toEqual({ state: 'healthy' })
  expect(api.requests.length).toBe(before)
  deps.time += 31_000
  expect(await runProbe()).toEqual({ state: 'healthy' })
  // Only the node of this host and the table of all nodes are read again, because the subnets of other nodes
  // do not change.
  expect(api.requests.slice(before).map(({ path }) => path)).toEqual(['/api/v1/nodes/a', '/api/v1/nodes'])
  expect(api.requests.at(-1)?.query.get('resourceVersion')).toBe('0')
})

test('a missing interface and an interface without an address are reported', async () => {
  deps.links.delete('flannel.1')
  expect(await runProbe()).toMatchObject({
    code: 'OVERLAY_INTERFACE',
    message: 'there is no interface flannel.1',
  })
  deps.texts.set('/proc/net/dev', 'Inter-|   Receive\n  eth0: 1 2\nflannel.1: 3 4\n')
  expect(await runProbe()).toMatchObject({
    code: 'OVERLAY_INTERFACE',
    message: 'the interface flannel.1 is down or has no address',
  })
})

test('a subnet file that is missing or differs from interface or node is reported', async () => {
  deps.texts.set(check.subnetFile, 'FLANNEL_SUBNET=10.244.9.1/24\n')
  expect(await runProbe()).toMatchObject({ state: 'unhealthy', code: 'OVERLAY_SUBNET' })
  deps.links.set('flannel.1', ['10.244.9.0'])
  expect(await runProbe()).toMatchObject({
    code: 'OVERLAY_SUBNET',
    message: '/run/flannel/subnet.env has 10.244.9.0/24, but the pod CIDR of the node is 10.244.0.0/24',
  })
  deps.texts.delete(check.subnetFile)
  expect(await runProbe()).toMatchObject({ code: 'OVERLAY_SUBNET' })
})

test('a missing route to the pods of a node is reported', async () => {
  setRoutes(2)
  expect(await runProbe()).toEqual({
    state: 'unhealthy',
    code: 'OVERLAY_ROUTES',
    message: 'there is no route to the pods of b',
  })
})

test('a node that was removed or recreated, or is not ready, needs no route', async () => {
  expect(await runProbe()).toEqual({ state: 'healthy' })
  setRoutes(2)
  // The cached table still contains the removed node b.
  nodes = three.filter(({ name }) => name !== 'b')
  expect(await runProbe()).toEqual({ state: 'healthy' })
  nodes = three.map((node) =>
    node.name === 'b' ? { ...node, created: new Date(deps.time).toISOString() } : node,
  )
  expect(await runProbe()).toEqual({ state: 'healthy' })
  nodes = three.map((node) => (node.name === 'b' ? { ...node, ready: false } : node))
  expect(await runProbe()).toEqual({ state: 'healthy' })
})

test('without the API, routes are unknown, and a missing interface is still reported', async () => {
  isDown = true
  expect(await runProbe()).toMatchObject({ state: 'unknown' })
  deps.links.delete('flannel.1')
  expect(await runProbe()).toMatchObject({ state: 'unhealthy', code: 'OVERLAY_INTERFACE' })
})

test('the nodes that follow by name are selected, and the first follows the last', () => {
  expect(selectFollowing(['d', 'b', 'a', 'c'], 'b', 2)).toEqual(['c', 'd'])
  expect(selectFollowing(['d', 'b', 'a', 'c'], 'd', 2)).toEqual(['a', 'b'])
  expect(selectFollowing(['a'], 'a', 2)).toEqual([])
})

test('routed networks are parsed from the routes of the kernel, without reject routes', () => {
  const text = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t0100D20A\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'cni0\t0001F40A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    'flannel.1\t0002F40A\t0002F40A\t0003\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    '*\t0003F40A\t00000000\t0201\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    '',
  ].join('\n')
  expect([...listRoutedNetworks(text)]).toEqual(['0.0.0.0/0', '10.244.1.0/24', '10.244.2.0/24'])
})

const zero = '0'.repeat(32)

/** Formats a line of /proc/net/ipv6_route. */
function ipv6Route(destination: string, prefix: string, flags: string, link: string): string {
  return `${destination.padEnd(32, '0')} ${prefix} ${zero} 00 ${zero} 00000400 00000001 00000000 ${flags} ${link}`
}

test('routed IPv6 networks are parsed from the routes of the kernel, without reject routes', () => {
  const text = [
    ipv6Route('fd00001002440001', '40', '00000003', 'flannel-v6.1'),
    ipv6Route('fd000010024400020000000000000000', '80', '80200001', 'lo'),
    ipv6Route('', '00', '00200200', 'lo'),
    '',
  ].join('\n')
  expect([...listRoutedIpv6Networks(text)]).toEqual(['fd00:10:244:1::/64', 'fd00:10:244:2::/128'])
})

async function runDualProbe(): Promise<ProbeResult> {
  const dual = testProbe({ ...check, ipv6Interface: 'flannel-v6.1' })
  return probes.run(dual, testComponent('flanneld'), new AbortController().signal)
}

function setIpv6Routes(...parts: readonly number[]): void {
  const lines = parts.map((part) => ipv6Route(`fd0000100244000${part}`, '40', '00000003', 'flannel-v6.1'))
  deps.texts.set('/proc/net/ipv6_route', [...lines, ''].join('\n'))
}

test('of a dual-stack network both families are checked', async () => {
  const subnets = 'FLANNEL_SUBNET=10.244.0.1/24\nFLANNEL_IPV6_SUBNET=fd00:10:244::1/64\n'
  nodes = three.map((node, index) => ({
    ...node,
    pods: [`10.244.${index}.0/24`, index === 0 ? 'fd00:10:244::/64' : `fd00:10:244:${index}::/64`],
  }))
  expect(await runDualProbe()).toMatchObject({ message: 'there is no interface flannel-v6.1' })
  deps.links.set('flannel-v6.1', ['fd00:10:244::'])
  expect(await runDualProbe()).toMatchObject({
    code: 'OVERLAY_SUBNET',
    message: '/run/flannel/subnet.env has no subnet for flannel-v6.1',
  })
  deps.texts.set(check.subnetFile, subnets)
  setIpv6Routes(1)
  expect(await runDualProbe()).toMatchObject({
    code: 'OVERLAY_ROUTES',
    message: 'there is no route to the pods of c',
  })
  setIpv6Routes(1, 2)
  expect(await runDualProbe()).toEqual({ state: 'healthy' })
  deps.texts.set(check.subnetFile, subnets.replace('244::1', '244:9::1'))
  deps.links.set('flannel-v6.1', ['fd00:10:244:9::'])
  expect(await runDualProbe()).toMatchObject({
    code: 'OVERLAY_SUBNET',
    message:
      '/run/flannel/subnet.env has 10.244.0.0/24, fd00:10:244:9::/64, but the pod CIDR of the node is 10.244.0.0/24, fd00:10:244::/64',
  })
})
