import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import { forecastDrain } from './forecast.ts'
import { buildBudget, createNodeApiServer, buildPod, DrainedNode } from './testing/drained-node.ts'

let ca: TestCa
const open = createNodeApiServer(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

async function forecast(api: DrainedNode): Promise<string[]> {
  const { client, server } = await open(api)
  const findings = await forecastDrain(client, 'w1')
  // A forecast only reads.
  expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET']))
  return findings.map(({ severity, code, message }) => `${severity} ${code} ${message}`)
}

test('pods with a controller and an allowing budget give no findings', async () => {
  const api = new DrainedNode(buildPod('web'), buildPod('log', { controller: 'DaemonSet' }))
  api.setBudgets(buildBudget('web', { minAvailable: 1 }))
  expect(await forecast(api)).toEqual([])
})

test('pods without a controller give a warning', async () => {
  expect(await forecast(new DrainedNode(buildPod('by-hand', { controller: '' })))).toEqual([
    'warning NODE_PODS_UNMANAGED these pods have no controller; after their eviction from w1 they will not run again: shop/by-hand',
  ])
})

test('pods with emptyDir data or local volumes give warnings', async () => {
  const claimed = (claimName: string) => ({
    spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
  })
  const api = new DrainedNode(
    buildPod('cache', { spec: { volumes: [{ name: 'tmp', emptyDir: {} }] } }),
    buildPod('database', claimed('here')),
    buildPod('elsewhere', claimed('disk')),
    buildPod('log', { controller: 'DaemonSet', spec: { volumes: [{ name: 'tmp', emptyDir: {} }] } }),
  )
  const object = (kind: string, name: string, spec: object) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name },
    spec,
  })
  const claims = '/api/v1/namespaces/shop/persistentvolumeclaims'
  api.api.put(`${claims}/here`, object('PersistentVolumeClaim', 'here', { volumeName: 'v1' }))
  api.api.put(`${claims}/disk`, object('PersistentVolumeClaim', 'disk', { volumeName: 'v2' }))
  api.api.put('/api/v1/persistentvolumes/v1', object('PersistentVolume', 'v1', { hostPath: { path: '/x' } }))
  api.api.put('/api/v1/persistentvolumes/v2', object('PersistentVolume', 'v2', { csi: { driver: 'x' } }))
  expect(await forecast(api)).toEqual([
    expect.stringMatching(/^warning NODE_PODS_LOCAL_DATA .*emptyDir.*: shop\/cache$/),
    expect.stringMatching(
      /^warning NODE_PODS_LOCAL_DATA these pods use local volumes of w1.*: shop\/database$/,
    ),
  ])
})

test('budgets that never allow an eviction and pods selected by two budgets are errors', async () => {
  const api = new DrainedNode(
    buildPod('web-1'),
    buildPod('web-2'),
    buildPod('api', { labels: { app: 'web', tier: 'back' } }),
  )
  api.setBudgets(
    buildBudget('web', { minAvailable: 2 }, { desiredHealthy: 2 }),
    buildBudget('back', { maxUnavailable: 1, selector: { matchLabels: { tier: 'back' } } }),
  )
  expect(await forecast(api)).toEqual([
    'error DRAIN_IMPOSSIBLE shop/api can never be evicted: PodDisruptionBudgets shop/web and shop/back select the pod, and the API evicts no pod that several of them select',
    'error DRAIN_IMPOSSIBLE PodDisruptionBudget shop/web never allows the eviction of shop/web-1, shop/web-2: it requires 2 healthy pods and selects 2 (minAvailable: 2)',
  ])
})
