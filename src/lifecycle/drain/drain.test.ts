import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import { sleepOrAbort } from '../../kit/poll.ts'
import type { HttpsTestServer } from '../../kit/testing/https-test-server.ts'
import { cordonOwnerAnnotation } from '../cluster-objects/node.ts'
import { readCordon } from './cordon.ts'
import { drain, type DrainOptions } from './drain.ts'
import { buildBudget, createNodeApiServer, buildPod, DrainedNode } from './testing/drained-node.ts'

let ca: TestCa
const open = createNodeApiServer(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

interface Drained {
  readonly error: unknown
  readonly reported: readonly string[]
  readonly server: HttpsTestServer
}

/** Drains node w1. The clock advances with every read, so the test does not wait in real time. */
async function drained(api: DrainedNode, options: Partial<DrainOptions> = {}): Promise<Drained> {
  const { client, server } = await open(api)
  const reported: string[] = []
  let time = Date.parse('2026-11-15T12:00:00Z')
  const error: unknown = await drain(client, 'w1', {
    deadline: 60_000,
    force: false,
    waiting: (reason) => void reported.push(reason),
    now: () => new Date((time += 100)),
    signal: new AbortController().signal,
    pause: async () => undefined,
    ...options,
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { error, reported, server }
}

const podNames = ({ pods }: DrainedNode): string[] => pods.map(({ metadata }) => metadata.name)
const evictions = ({ requests }: HttpsTestServer) => requests.filter(({ path }) => path.endsWith('/eviction'))

test('after the cordon pods are evicted by uid; DaemonSet pods and completed pods stay', async () => {
  const api = new DrainedNode(
    buildPod('web'),
    buildPod('log', { controller: 'DaemonSet' }),
    buildPod('done', { phase: 'Succeeded' }),
  )
  const { error, server } = await drained(api, { cordonReason: 'me@here: upgrade' })
  expect(error).toBeUndefined()
  expect(podNames(api)).toEqual(['log', 'done'])
  expect(api.node && readCordon(api.node)).toBe('ours')
  expect(api.node?.metadata.annotations).toEqual({ [cordonOwnerAnnotation]: 'me@here: upgrade' })
  expect(evictions(server).map(({ body }) => body)).toEqual([
    {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace: 'shop', name: 'web' },
      deleteOptions: { preconditions: { uid: 'uid-of-web' } },
    },
  ])
  const order = server.requests.map(({ method }) => method)
  expect(order.indexOf('PATCH')).toBeLessThan(order.indexOf('POST'))
})

test('at most five evictions run at once', async () => {
  const api = new DrainedNode(...Array.from({ length: 12 }, (_, index) => buildPod(`web-${index}`)))
  let pending: (() => void)[] = []
  let maxPending = 0
  const release = (): void => {
    maxPending = Math.max(maxPending, pending.length)
    for (const end of pending) end()
    pending = []
  }
  api.onRequest = ({ path }) => {
    if (!path.endsWith('/eviction')) return undefined
    return {
      by(response) {
        pending.push(() => {
          api.end(/pods\/([^/]+)/.exec(path)?.[1] ?? '')
          response.end('{}')
        })
        // The delay gives a sixth concurrent request time to arrive, if the limit did not work.
        if (pending.length === Math.min(5, api.pods.length)) setTimeout(release, 20)
      },
    }
  }
  expect((await drained(api)).error).toBeUndefined()
  expect([podNames(api), maxPending]).toEqual([[], 5])
})

test('an eviction that a disruption budget refuses is retried with backoff until the budget allows it', async () => {
  const api = new DrainedNode(buildPod('web-1'), buildPod('web-2'))
  api.setBudgets(buildBudget('web', { minAvailable: 1 }, { disruptionsAllowed: 1 }))
  let refusals = 0
  api.onRequest = ({ path }) => {
    // The fifth refusal makes the budget allow one disruption, as if a replacement pod had become ready.
    if (path.endsWith('/eviction') && api.pods.length === 1 && ++refusals === 5) {
      api.setBudgets(buildBudget('web', { minAvailable: 1 }, { disruptionsAllowed: 1 }))
    }
    return undefined
  }
  const { error, reported, server } = await drained(api)
  expect(error).toBeUndefined()
  expect(podNames(api)).toEqual([])
  expect(evictions(server).length).toBeLessThan(8)
  expect(server.requests.filter(({ path }) => path === '/api/v1/pods').length).toBeGreaterThan(20)
  expect(reported.join('\n')).toMatch(
    /^w1 to be drained: shop\/web-2, eviction requested .* ago: PodDisruptionBudget shop\/web does not allow the eviction now: allowed disruptions 0, healthy 2 of 2, needed 1$/m,
  )
})

test('at the deadline all blocking pods are reported, and the node stays cordoned', async () => {
  const api = new DrainedNode(
    buildPod('web'),
    buildPod('slow', { labels: {} }),
    buildPod('free', { labels: {} }),
  )
  api.setBudgets(buildBudget('web', { minAvailable: 2 }, { desiredHealthy: 2 }))
  api.slow.add('slow')
  const { error, reported } = await drained(api, { deadline: 10_000 })
  expect(error).toMatchObject({
    code: 'DRAIN_BLOCKED',
    message: expect.stringMatching(
      /^w1 is not drained after 10\.0 s:\n  shop\/web, eviction requested \d.* s ago: PodDisruptionBudget shop\/web never allows the eviction: it requires 2 healthy pods and selects 2 \(minAvailable: 2\); allowed disruptions 0, healthy 2 of 2, needed 2\n  shop\/slow has been terminating for \d.* s$/,
    ),
    hint: expect.stringContaining('hyperkube node uncordon w1'),
  })
  expect(podNames(api)).toEqual(['web', 'slow'])
  expect(api.node && readCordon(api.node)).toBe('ours')
  // A budget that never allows an eviction is reported at once.
  expect(reported[0]).toContain('PodDisruptionBudget shop/web never allows the eviction')
})

test('drain waits for a pod that terminates slowly and evicts it only once', async () => {
  const api = new DrainedNode(buildPod('web'))
  api.slow.add('web')
  let polls = 0
  api.onRequest = ({ path }) => {
    if (path === '/api/v1/pods' && ++polls === 20) api.end('web')
    return undefined
  }
  const { error, reported, server } = await drained(api)
  expect(error).toBeUndefined()
  expect(evictions(server)).toHaveLength(1)
  expect(reported[0]).toContain('shop/web has been terminating')
})

test('a pod that tolerates the cordon and is recreated under the same name is not evicted again', async () => {
  const everywhere = { tolerations: [{ operator: 'Exists' }] }
  const api = new DrainedNode(buildPod('web-0', { spec: everywhere }), buildPod('late'))
  api.onGone = ({ metadata: { name } }) => {
    if (name === 'web-0') api.addPod(buildPod('web-0', { uid: 'another', spec: everywhere }))
    // The scheduler may not know of the cordon yet, so it places one more pod on the node.
    else if (name === 'late') api.addPod(buildPod('later'))
  }
  const { error, server } = await drained(api)
  expect(error).toBeUndefined()
  expect(api.pods.map(({ metadata }) => metadata.uid)).toEqual(['another'])
  expect(evictions(server)).toHaveLength(3)
})

test('pods without a controller are refused without force, before any change', async () => {
  const api = new DrainedNode(buildPod('web'), buildPod('by-hand', { controller: '' }))
  const { error } = await drained(api)
  expect(error).toMatchObject({
    code: 'NODE_PODS_UNMANAGED',
    message: expect.stringContaining('shop/by-hand'),
  })
  expect(podNames(api)).toEqual(['web', 'by-hand'])
  expect(api.node && readCordon(api.node)).toBe('none')
  expect((await drained(api, { force: true })).error).toBeUndefined()
  expect(podNames(api)).toEqual([])
})

test('for a lost host pods are deleted without grace period and without evictions', async () => {
  const api = new DrainedNode(
    buildPod('web'),
    buildPod('by-hand', { controller: '' }),
    buildPod('ending', { deletionTimestamp: '2026-11-15T11:00:00Z' }),
    buildPod('log', { controller: 'DaemonSet' }),
  )
  api.setBudgets(buildBudget('web', { maxUnavailable: 0 }))
  api.removeNode()
  const { error, server } = await drained(api, { lost: true })
  expect(error).toBeUndefined()
  expect(podNames(api)).toEqual(['log'])
  expect(evictions(server)).toEqual([])
  const removed = server.requests.filter(({ method }) => method === 'DELETE')
  expect(removed.map(({ body }) => body)).toContainEqual(
    expect.objectContaining({ gracePeriodSeconds: 0, preconditions: { uid: 'uid-of-web' } }),
  )
})

test('drain reports that pods cannot terminate on a node that is not ready', async () => {
  const api = new DrainedNode(buildPod('web'))
  api.slow.add('web')
  api.changeNode({
    status: { conditions: [{ type: 'Ready', status: 'Unknown', message: 'it is silent' }] },
  })
  const { error, reported } = await drained(api, { deadline: 5000 })
  expect(reported[0]).toContain('w1 is not ready, so its pods cannot terminate: it is silent')
  expect(error).toMatchObject({
    code: 'DRAIN_BLOCKED',
    hint: expect.stringContaining('find out why w1 is not ready: hyperkube doctor'),
  })
})

test('drain retries after failed API requests', async () => {
  const api = new DrainedNode(buildPod('web'))
  let [polls, requests] = [0, 0]
  api.onRequest = ({ path }) => {
    if (path === '/api/v1/pods' && ++polls === 3) return { status: 500, text: 'etcd' }
    return path.endsWith('/eviction') && ++requests === 1 ? { cut: 'before' } : undefined
  }
  expect((await drained(api)).error).toBeUndefined()
  expect([podNames(api), requests]).toEqual([[], 2])
})

test('an interrupt ends the drain', async () => {
  const api = new DrainedNode(buildPod('web'))
  api.slow.add('web')
  const interruption = new AbortController()
  const { error } = await drained(api, {
    signal: interruption.signal,
    waiting: () => interruption.abort(new Error('enough')),
    pause: sleepOrAbort,
  })
  expect(error).toMatchObject({ message: 'enough' })
})
