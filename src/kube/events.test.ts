import { beforeAll, expect, test } from 'vitest'
import type { ReceivedRequest, TestResponse } from '../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import { type EventNote, EventRecorder } from './events.ts'
import type { KubeObject } from './object.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'

let ca: TestCa
const { serve, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '5' },
}
const note: EventNote = { type: 'Warning', reason: 'FailedApply', action: 'Apply', note: 'it does not fit' }
const written: TestResponse = { json: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x' } } }

async function startRecorder(respond: (requests: ReceivedRequest) => TestResponse = () => written): Promise<{
  requests: readonly ReceivedRequest[]
  events: EventRecorder
  errors: unknown[]
  dropped: { count: number }
  clock: { now: number }
}> {
  const server = await serve(respond)
  const clock = { now: Date.parse('2026-11-15T12:00:00.123Z') }
  const errors: unknown[] = []
  const dropped = { count: 0 }
  const events = new EventRecorder(createClient([server.url]), {
    controller: 'hyperkube.dev/addons',
    instance: 'cp1',
    clock: () => new Date(clock.now),
    onError: (error) => errors.push(error),
    onDropped: () => dropped.count++,
  })
  return { requests: server.requests, events, errors, dropped, clock }
}

test('an event contains reason, note, object, reporter and time', async () => {
  const { requests, events, errors } = await startRecorder()
  await events.record(pod, note)
  expect(requests).toMatchObject([{ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/shop/events' }])
  expect(requests[0]?.body).toEqual({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
    eventTime: '2026-11-15T12:00:00.123000Z',
    reportingController: 'hyperkube.dev/addons',
    reportingInstance: 'cp1',
    regarding: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      resourceVersion: '5',
    },
    ...note,
  })
  expect(errors).toEqual([])
})

test('a repeated event is counted: the second time at once, then once a minute', async () => {
  const { requests, events, clock } = await startRecorder()
  for (let time = 0; time < 10; time++) {
    await events.record(pod, note)
    clock.now += 10_000
  }
  const [first, ...later] = requests
  const name = /"name":"(web\.[^"]+)"/.exec(JSON.stringify(first?.body))?.[1]
  expect(later.map(({ method, path, body }) => [method, path.split('/').at(-1), body])).toEqual([
    ['PATCH', name, { series: { count: 2, lastObservedTime: '2026-11-15T12:00:10.123000Z' } }],
    ['PATCH', name, { series: { count: 8, lastObservedTime: '2026-11-15T12:01:10.123000Z' } }],
  ])
})

test('two concurrent equal events create one object', async () => {
  const { requests, events } = await startRecorder()
  await Promise.all([events.record(pod, note), events.record(pod, note)])
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
})

test('a new event is created for another note or uid, after six minutes, or after its deletion', async () => {
  const { requests, events, clock } = await startRecorder(({ method }) =>
    method === 'PATCH' ? { status: 404, text: '' } : written,
  )
  await events.record(pod, note)
  await events.record(pod, { ...note, note: 'it fits' })
  await events.record({ ...pod, metadata: { ...pod.metadata, uid: 'v' } }, note)
  clock.now += 6 * 60_000 + 1
  await events.record(pod, note)
  await events.record(pod, note)
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'POST', 'PATCH', 'POST'])
})

test('of many events that differ only in their note, ten are written, and one more for all others', async () => {
  const { requests, events } = await startRecorder()
  for (let time = 0; time < 30; time++) await events.record(pod, { ...note, note: `attempt ${time}` })
  const begun = requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.stringify(body))
  expect(begun).toHaveLength(11)
  expect(begun.at(-1)).toContain('"combined from similar events: attempt 10"')
  expect(requests.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
})

test('an object may have 25 events, and one more every five minutes', async () => {
  const { requests, events, dropped, clock } = await startRecorder()
  const record = async (reason: string): Promise<void> => events.record(pod, { ...note, reason })
  for (let time = 0; time < 30; time++) await record(`Reason${time}`)
  expect([requests.length, dropped.count]).toEqual([25, 5])
  clock.now += 600_000
  for (let time = 30; time < 34; time++) await record(`Reason${time}`)
  expect([requests.length, dropped.count]).toEqual([27, 7])
})

test('at most 100 events are pending while the API does not respond; others are dropped', async () => {
  const { events, dropped } = await startRecorder(() => ({ silent: true }))
  const stop = new AbortController()
  const all = Array.from({ length: 120 }, async (_, number) =>
    events.record({ ...pod, metadata: { ...pod.metadata, uid: String(number) } }, note, {
      signal: stop.signal,
    }),
  )
  expect(dropped.count).toBe(20)
  stop.abort()
  await Promise.all(all)
})

test('an event of a cluster-scoped object gets a valid name, and a long note is shortened', async () => {
  const { requests, events } = await startRecorder()
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a:b' } }
  await events.record(role, { ...note, note: 'ü'.repeat(1000) })
  expect(requests[0]?.path).toBe('/apis/events.k8s.io/v1/namespaces/default/events')
  expect(requests[0]?.body).toMatchObject({
    metadata: { name: expect.stringMatching(/^clusterrole\.[0-9a-f]{16}$/) },
    note: `${'ü'.repeat(510)}…`,
  })
})

test('write errors are reported and do not fail the caller', async () => {
  const { requests, events, errors } = await startRecorder(() => ({ status: 403, text: 'not you' }))
  await events.record(pod, note)
  await events.record(pod, note)
  expect(errors).toMatchObject([{ code: 'KUBE_FORBIDDEN' }, { code: 'KUBE_FORBIDDEN' }])
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST'])
})
