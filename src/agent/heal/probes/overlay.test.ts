import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestCa, type TestCa } from '../../../kit/testing/test-ca.ts'
import { selectFollowing } from './node-reader.ts'
import { listRoutedNetworks } from './overlay.ts'
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
  pods: `10.244.${index}.0/24`,
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
