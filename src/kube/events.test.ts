import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import type { Asked, TestAnswer } from '../kit/testing/https-test-server.ts'
import { EventRecorder, type Note } from './events.ts'
import type { KubeObject } from './object.ts'
import { testBench } from './testing/kube-test-bench.ts'

let authority: TestAuthority
const { serve, clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '5' },
}
const note: Note = { type: 'Warning', reason: 'FailedApply', action: 'Apply', note: 'it does not fit' }
const written: TestAnswer = { json: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x' } } }

async function recording(answer: (asked: Asked) => TestAnswer = () => written): Promise<{
  asked: readonly Asked[]
  events: EventRecorder
  troubles: unknown[]
  dropped: { count: number }
  clock: { now: number }
}> {
  const server = await serve(answer)
  const clock = { now: Date.parse('2026-11-15T12:00:00.123Z') }
  const troubles: unknown[] = []
  const dropped = { count: 0 }
  const events = new EventRecorder(clientOf([server.url]), {
    controller: 'hyperkube.dev/addons',
    instance: 'cp1',
    clock: () => new Date(clock.now),
    onTrouble: (error) => troubles.push(error),
    onDropped: () => dropped.count++,
  })
  return { asked: server.asked, events, troubles, dropped, clock }
}

test('an event says what, about which object, who and when', async () => {
  const { asked, events, troubles } = await recording()
  await events.record(pod, note)
  expect(asked).toMatchObject([{ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/shop/events' }])
  expect(asked[0]?.body).toEqual({
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
  expect(troubles).toEqual([])
})

test('the same again is counted: the second time at once, then once a minute', async () => {
  const { asked, events, clock } = await recording()
  for (let time = 0; time < 10; time++) {
    await events.record(pod, note)
    clock.now += 10_000
  }
  const [first, ...later] = asked
  const name = /"name":"(web\.[^"]+)"/.exec(JSON.stringify(first?.body))?.[1]
  expect(later.map(({ method, path, body }) => [method, path.split('/').at(-1), body])).toEqual([
    ['PATCH', name, { series: { count: 2, lastObservedTime: '2026-11-15T12:00:10.123000Z' } }],
    ['PATCH', name, { series: { count: 8, lastObservedTime: '2026-11-15T12:01:10.123000Z' } }],
  ])
})

test('two who say the same at the same time say it once', async () => {
  const { asked, events } = await recording()
  await Promise.all([events.record(pod, note), events.record(pod, note)])
  expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(1)
})

test('anything else is another event, and so is the same after a pause, or once it is forgotten', async () => {
  const { asked, events, clock } = await recording(({ method }) =>
    method === 'PATCH' ? { status: 404, text: '' } : written,
  )
  await events.record(pod, note)
  await events.record(pod, { ...note, note: 'it fits' })
  await events.record({ ...pod, metadata: { ...pod.metadata, uid: 'v' } }, note)
  clock.now += 6 * 60_000 + 1
  await events.record(pod, note)
  await events.record(pod, note)
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'POST', 'PATCH', 'POST'])
})

test('of many that differ in their words alone, ten are told, and one more for all others', async () => {
  const { asked, events } = await recording()
  for (let time = 0; time < 30; time++) await events.record(pod, { ...note, note: `attempt ${time}` })
  const begun = asked.filter(({ method }) => method === 'POST').map(({ body }) => JSON.stringify(body))
  expect(begun).toHaveLength(11)
  expect(begun.at(-1)).toContain('"and others like it: attempt 10"')
  expect(asked.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
})

test('an object has its share, and gets a little more with time', async () => {
  const { asked, events, dropped, clock } = await recording()
  const say = async (reason: string): Promise<void> => events.record(pod, { ...note, reason })
  for (let time = 0; time < 30; time++) await say(`Reason${time}`)
  expect([asked.length, dropped.count]).toEqual([25, 5])
  clock.now += 600_000
  for (let time = 30; time < 34; time++) await say(`Reason${time}`)
  expect([asked.length, dropped.count]).toEqual([27, 7])
})

test('when the API is slow, events are left out: nobody waits for them', async () => {
  const { events, dropped } = await recording(() => ({ silent: true }))
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

test('about an object of the whole cluster, with a name that events may not have, and too many words', async () => {
  const { asked, events } = await recording()
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a:b' } }
  await events.record(role, { ...note, note: 'ü'.repeat(1000) })
  expect(asked[0]?.path).toBe('/apis/events.k8s.io/v1/namespaces/default/events')
  expect(asked[0]?.body).toMatchObject({
    metadata: { name: expect.stringMatching(/^clusterrole\.[0-9a-f]{16}$/) },
    note: `${'ü'.repeat(510)}…`,
  })
})

test('what cannot be written is told, and stops nobody', async () => {
  const { asked, events, troubles } = await recording(() => ({ status: 403, text: 'not you' }))
  await events.record(pod, note)
  await events.record(pod, note)
  expect(troubles).toMatchObject([{ code: 'KUBE_FORBIDDEN' }, { code: 'KUBE_FORBIDDEN' }])
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'POST'])
})
