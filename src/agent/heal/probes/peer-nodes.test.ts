import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import type { Seen } from '../probe-result.ts'
import { prober } from './prober.ts'
import { answerNodes, notFound, testApi, type TestNode } from './testing/fake-probe-api.ts'
import { testComponent, testEdges, testProbe } from './testing/fake-probe-deps.ts'

let authority: TestAuthority
const kubelet = createServer((socket) => socket.destroy())
let port = 0

beforeAll(async () => {
  authority = await testAuthority()
  kubelet.listen(0, '127.0.0.1')
  await once(kubelet, 'listening')
  const address = kubelet.address()
  port = typeof address === 'object' ? (address?.port ?? 0) : 0
})
afterAll(() => kubelet.close())

/** A port of an address that nobody has: 192.0.2.0/24 is for documents. */
const nowhere = '255.255.255.255'

async function ask(nodes: readonly TestNode[], listed: readonly TestNode[] = nodes): Promise<Seen> {
  await using api = await testApi(authority, (asked) =>
    asked.path === '/api/v1/nodes' ? answerNodes(listed)(asked) : answerNodes(nodes)(asked),
  )
  const edges = testEdges()
  edges.texts.set('/kubeconfig', api.kubeconfig)
  using one = prober(edges)
  const check = { kind: 'neighbours', node: 'a', kubeconfig: '/kubeconfig', count: 2 } as const
  const { signal } = new AbortController()
  const seen = await one.ask(testProbe(check, { timeout: 10_000 }), testComponent('kubelet'), signal)
  return seen
}

test('neighbours that take connections, or refuse them, are there', async () => {
  const nodes = [
    { name: 'a' },
    { name: 'b', address: '127.0.0.1', port },
    { name: 'c', address: '127.0.0.1', port: 1 },
    { name: 'd', address: nowhere, port },
  ]
  expect(await ask(nodes)).toEqual({ state: 'well' })
})

test('one that is said to be ready and cannot be reached', async () => {
  const nodes = [{ name: 'a' }, { name: 'b', address: nowhere, port }]
  expect(await ask(nodes)).toEqual({
    state: 'failed',
    code: 'NEIGHBOURS_SILENT',
    seen: `no way from here to b (${nowhere})`,
  })
})

test('one that is not ready, or gone since the table was made, is not asked for', async () => {
  expect(await ask([{ name: 'a' }, { name: 'b', address: nowhere, ready: false }])).toEqual({ state: 'well' })
  const nodes = [{ name: 'a' }, { name: 'b', address: nowhere, ready: false }]
  expect(await ask(nodes, [{ name: 'a' }, { name: 'b' }])).toEqual({ state: 'well' })
  expect(await ask([{ name: 'a' }], [{ name: 'a' }, { name: 'b' }])).toEqual({ state: 'well' })
})

test('the lease of a node is as old as it may be, or older, or not there', async () => {
  const edges = testEdges()
  const lease = { renewTime: new Date(edges.time - 30_000).toISOString() }
  await using api = await testApi(authority, ({ path }) =>
    path.endsWith('/leases/a') ? { json: { spec: lease } } : { status: 404, json: notFound },
  )
  edges.texts.set('/kubeconfig', api.kubeconfig)
  using one = prober(edges)
  const look = async (node: string): Promise<Seen> =>
    one.ask(
      testProbe({ kind: 'node-lease', node, kubeconfig: '/kubeconfig', within: 40_000 }),
      testComponent('kubelet'),
      new AbortController().signal,
    )
  expect(await look('a')).toEqual({ state: 'well' })
  expect(api.asked.at(-1)?.path).toBe('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a')
  edges.time += 30_000
  expect(await look('a')).toEqual({
    state: 'failed',
    code: 'NODE_LEASE_OLD',
    seen: 'the node was heard of last 1 min 00 s ago',
  })
  expect(await look('b')).toMatchObject({ code: 'NODE_LEASE_OLD' })
  edges.texts.delete('/kubeconfig')
  using other = prober(edges)
  const probe = testProbe({ kind: 'node-lease', node: 'a', kubeconfig: '/kubeconfig', within: 1 })
  expect(await other.ask(probe, testComponent('kubelet'), new AbortController().signal)).toEqual({
    state: 'unknown',
    seen: 'there is no /kubeconfig',
  })
})
