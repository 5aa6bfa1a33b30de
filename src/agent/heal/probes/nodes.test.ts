import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestCa, type TestCa } from '../../../kit/testing/test-ca.ts'
import { FakeKubeApi } from '../../../kube/testing/fake-kube-api.ts'
import type { ProbeResult } from './probe-runner.ts'
import { createProber } from './prober.ts'
import { type FakeNode, createNodesApi, startProbeApiServer } from './testing/probe-api-server.ts'
import { createFakeProbeDeps, testComponent, testProbe } from './testing/fake-probe-deps.ts'

let ca: TestCa
const kubelet = createServer((socket) => socket.destroy())
let port = 0

beforeAll(async () => {
  ca = await createTestCa()
  kubelet.listen(0, '127.0.0.1')
  await once(kubelet, 'listening')
  const address = kubelet.address()
  port = typeof address === 'object' ? (address?.port ?? 0) : 0
})
afterAll(() => kubelet.close())

/** An address that no host has. */
const nowhere = '255.255.255.255'

async function runProbe(
  nodes: readonly FakeNode[],
  listed: readonly FakeNode[] = nodes,
): Promise<ProbeResult> {
  await using api = await startProbeApiServer(ca, (request) =>
    createNodesApi(request.path === '/api/v1/nodes' ? listed : nodes).respond(request),
  )
  const deps = createFakeProbeDeps()
  deps.texts.set('/kubeconfig', api.kubeconfig)
  using probes = createProber(deps)
  const check = { kind: 'peer-nodes', node: 'a', kubeconfig: '/kubeconfig', count: 2 } as const
  const { signal } = new AbortController()
  const result = await probes.run(testProbe(check, { timeoutMs: 10_000 }), testComponent('kubelet'), signal)
  return result
}

test('peers that accept or refuse connections are reachable', async () => {
  const nodes = [
    { name: 'a' },
    { name: 'b', address: '127.0.0.1', port },
    { name: 'c', address: '127.0.0.1', port: 1 },
    { name: 'd', address: nowhere, port },
  ]
  expect(await runProbe(nodes)).toEqual({ state: 'healthy' })
})

test('an unreachable peer whose node is ready makes the probe unhealthy', async () => {
  const nodes = [{ name: 'a' }, { name: 'b', address: nowhere, port }]
  expect(await runProbe(nodes)).toEqual({
    state: 'unhealthy',
    code: 'PEERS_UNREACHABLE',
    message: `this host cannot reach b (${nowhere})`,
  })
})

test('a peer that is not ready, or was removed since the list, is ignored', async () => {
  expect(await runProbe([{ name: 'a' }, { name: 'b', address: nowhere, ready: false }])).toEqual({
    state: 'healthy',
  })
  const nodes = [{ name: 'a' }, { name: 'b', address: nowhere, ready: false }]
  expect(await runProbe(nodes, [{ name: 'a' }, { name: 'b' }])).toEqual({ state: 'healthy' })
  expect(await runProbe([{ name: 'a' }], [{ name: 'a' }, { name: 'b' }])).toEqual({ state: 'healthy' })
})

test('a recent node lease is healthy, and an old or missing one is unhealthy', async () => {
  const deps = createFakeProbeDeps()
  const lease = { renewTime: new Date(deps.time - 30_000).toISOString() }
  const leases = new FakeKubeApi()
  leases.put('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    spec: lease,
  })
  await using api = await startProbeApiServer(ca, leases.respond)
  deps.texts.set('/kubeconfig', api.kubeconfig)
  using probes = createProber(deps)
  const runLeaseProbe = async (node: string): Promise<ProbeResult> =>
    probes.run(
      testProbe({ kind: 'node-lease', node, kubeconfig: '/kubeconfig', maxMs: 40_000 }),
      testComponent('kubelet'),
      new AbortController().signal,
    )
  expect(await runLeaseProbe('a')).toEqual({ state: 'healthy' })
  expect(api.requests.at(-1)?.path).toBe('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a')
  deps.time += 30_000
  expect(await runLeaseProbe('a')).toEqual({
    state: 'unhealthy',
    code: 'NODE_LEASE_OLD',
    message: 'the last heartbeat of the node was 1 min 00 s ago',
  })
  expect(await runLeaseProbe('b')).toMatchObject({ code: 'NODE_LEASE_OLD' })
  deps.texts.delete('/kubeconfig')
  using other = createProber(deps)
  const probe = testProbe({ kind: 'node-lease', node: 'a', kubeconfig: '/kubeconfig', maxMs: 1 })
  expect(await other.run(probe, testComponent('kubelet'), new AbortController().signal)).toEqual({
    state: 'unknown',
    message: 'there is no /kubeconfig',
  })
})
