import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import type { Seen } from '../probe-result.ts'
import { following } from './node-reader.ts'
import { type Prober, prober } from './prober.ts'
import { answerNodes, type TestApi, testApi, type TestNode } from './testing/fake-probe-api.ts'
import { type TestEdges, testComponent, testEdges, testProbe } from './testing/fake-probe-deps.ts'

const check = {
  kind: 'overlay',
  interface: 'flannel.1',
  subnetFile: '/run/flannel/subnet.env',
  node: 'a',
  kubeconfig: '/kubeconfig',
} as const
const three: readonly TestNode[] = ['a', 'b', 'c'].map((name, index) => ({
  name,
  pods: `10.244.${index}.0/24`,
}))

let authority: TestAuthority
let api: TestApi
let nodes: readonly TestNode[]
let isDown = false
let edges: TestEdges
let one: Prober

beforeAll(async () => {
  authority = await testAuthority()
  api = await testApi(authority, (asked) => (isDown ? { cut: 'before' } : answerNodes(nodes)(asked)))
})
afterAll(async () => api[Symbol.asyncDispose]())
beforeEach(() => {
  one?.[Symbol.dispose]()
  nodes = three
  isDown = false
  edges = testEdges()
  one = prober(edges)
  edges.texts.set('/kubeconfig', api.kubeconfig)
  edges.texts.set(check.subnetFile, 'FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.0.1/24\n')
  edges.links.set('flannel.1', ['10.244.0.0'])
  setRoutes(1, 2)
})

function setRoutes(...parts: readonly number[]): void {
  const lines = parts.map(
    (part) => `flannel.1\t000${part}F40A\t000${part}F40A\t0003\t0\t0\t0\t00FFFFFF\t0\t0\t0`,
  )
  edges.texts.set('/proc/net/route', ['Iface\tDestination', ...lines, ''].join('\n'))
}

async function ask(): Promise<Seen> {
  return one.ask(testProbe(check), testComponent('flanneld'), new AbortController().signal)
}

test('a network that is whole is well, and the API is asked about it seldom', async () => {
  expect(await ask()).toEqual({ state: 'well' })
  const before = api.asked.length
  edges.time += 30_000
  expect(await ask()).toEqual({ state: 'well' })
  expect(api.asked.length).toBe(before)
  edges.time += 31_000
  expect(await ask()).toEqual({ state: 'well' })
  // Its own node, and the table of all; what others were given does not change.
  expect(api.asked.slice(before).map(({ path }) => path)).toEqual(['/api/v1/nodes/a', '/api/v1/nodes'])
  expect(api.asked.at(-1)?.query.get('resourceVersion')).toBe('0')
})

test('an interface that is gone, or down', async () => {
  edges.links.delete('flannel.1')
  expect(await ask()).toMatchObject({ code: 'OVERLAY_INTERFACE', seen: 'there is no interface flannel.1' })
  edges.texts.set('/proc/net/dev', 'Inter-|   Receive\n  eth0: 1 2\nflannel.1: 3 4\n')
  expect(await ask()).toMatchObject({
    code: 'OVERLAY_INTERFACE',
    seen: 'the interface flannel.1 is down, or has no address',
  })
})

test('a file that is gone, or says what neither the interface nor the node says', async () => {
  edges.texts.set(check.subnetFile, 'FLANNEL_SUBNET=10.244.9.1/24\n')
  expect(await ask()).toMatchObject({ state: 'failed', code: 'OVERLAY_SUBNET' })
  edges.links.set('flannel.1', ['10.244.9.0'])
  expect(await ask()).toMatchObject({
    code: 'OVERLAY_SUBNET',
    seen: '/run/flannel/subnet.env says 10.244.9.0/24, and the node was given 10.244.0.0/24',
  })
  edges.texts.delete(check.subnetFile)
  expect(await ask()).toMatchObject({ code: 'OVERLAY_SUBNET' })
})

test('routes that are missing', async () => {
  setRoutes(2)
  expect(await ask()).toEqual({
    state: 'failed',
    code: 'OVERLAY_ROUTES',
    seen: 'there is no route to the pods of b',
  })
})

test('who is gone, made anew, young or not ready is not missed', async () => {
  expect(await ask()).toEqual({ state: 'well' })
  setRoutes(2)
  // The table still has it.
  nodes = three.filter(({ name }) => name !== 'b')
  expect(await ask()).toEqual({ state: 'well' })
  nodes = three.map((node) =>
    node.name === 'b' ? { ...node, created: new Date(edges.time).toISOString() } : node,
  )
  expect(await ask()).toEqual({ state: 'well' })
  nodes = three.map((node) => (node.name === 'b' ? { ...node, ready: false } : node))
  expect(await ask()).toEqual({ state: 'well' })
})

test('without an API, what others would have to say is not known', async () => {
  isDown = true
  expect(await ask()).toMatchObject({ state: 'unknown' })
  edges.links.delete('flannel.1')
  expect(await ask()).toMatchObject({ state: 'failed', code: 'OVERLAY_INTERFACE' })
})

test('those that follow by name are asked about, and after the last comes the first', () => {
  expect(following(['d', 'b', 'a', 'c'], 'b', 2)).toEqual(['c', 'd'])
  expect(following(['d', 'b', 'a', 'c'], 'd', 2)).toEqual(['a', 'b'])
  expect(following(['a'], 'a', 2)).toEqual([])
})
