import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import type { ReceivedRequest, TestResponse } from '../kit/testing/https-test-server.ts'
import { type KubeObject, createUntypedKind, kubeObject } from './object.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'
import { type ObjectWrite, type WatchFault, WatchScript } from './testing/watch-script.ts'
import { Watch, type WatchChange, type WatchOptions } from './watch.ts'

let ca: TestCa
const { serve, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const configMaps = createUntypedKind('v1', 'ConfigMap')
const select = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? ''
const timing = { idleTimeout: 60_000, backoff: { initial: 1, max: 4 } }

type Options = Partial<WatchOptions<KubeObject, string>>

/** Starts a watch and records its changes in order, as `type key`. */
async function startWatch(
  respond: (requests: ReceivedRequest) => TestResponse,
  options: Options = {},
): Promise<{
  requests: readonly ReceivedRequest[]
  watch: Watch<KubeObject, string>
  errors: string[]
  stop: AbortController
  next: (count: number) => Promise<string[]>
}> {
  const server = await serve(respond)
  const client = createClient([server.url], { timing: { responseMs: 5000 } })
  const errors: string[] = []
  const watch = new Watch(client, configMaps, {
    select,
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
    random: () => 0,
    ...options,
    timing: { ...timing, ...options.timing },
  })
  const stop = new AbortController()
  const changes = watch.changes(stop.signal)
  const next = async (count: number): Promise<string[]> => {
    const received: string[] = []
    while (received.length < count) {
      const { value, done } = await changes.next()
      if (done === true) return [...received, 'end']
      received.push(inWords(value))
    }
    return received
  }
  return { requests: server.requests, watch, errors, stop, next }
}

function inWords(change: WatchChange<string>): string {
  return change.type === 'listed' ? 'listed' : `${change.type} ${change.key}`
}

/**
 * Creates an API whose list succeeds and whose first watch ends with the fault. The writes in `then` happen
 * before the next request.
 */
function faulty(fault: WatchFault, then: readonly ObjectWrite[]): WatchScript {
  const during: ObjectWrite[] = []
  return new WatchScript([
    { before: [], during, fault: 'end' },
    { before: [], during, fault },
    { before: then, during, fault: 'end' },
  ])
}

test('a watch reports existing objects page by page, and then their changes', async () => {
  const script = new WatchScript()
  for (const name of ['a', 'b', 'c']) script.put(name)
  const { next, watch, requests } = await startWatch(script.api.respond, {
    limit: 2,
    namespace: 'default',
    labels: 'x=y',
  })
  expect(await next(4)).toEqual(['added default/a', 'added default/b', 'added default/c', 'listed'])
  const change = next(3)
  script.put('b')
  script.remove('a')
  script.put('d')
  expect(await change).toEqual(['modified default/b', 'deleted default/a', 'added default/d'])
  expect(watch.current).toEqual(
    new Map([
      ['default/b', '14'],
      ['default/c', '13'],
      ['default/d', '16'],
    ]),
  )
  expect(requests.map(({ path, query }) => `${path}?${query.toString()}`)).toEqual([
    '/api/v1/namespaces/default/configmaps?labelSelector=x%3Dy&limit=2',
    '/api/v1/namespaces/default/configmaps?labelSelector=x%3Dy&limit=2&continue=13+b',
    '/api/v1/namespaces/default/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=13&timeoutSeconds=300&labelSelector=x%3Dy',
  ])
})

describe('a watch continues at its last resourceVersion', () => {
  test.each<WatchFault>(['end', 'reset', 'half a line', 'crowded', 'broken', 'broken as an event'])(
    'after the transient fault %s',
    async (fault) => {
      const script = faulty(fault, [{ act: 'put', name: 'a' }])
      const { next, requests, errors } = await startWatch(script.api.respond)
      expect(await next(2)).toEqual(['listed', 'added default/a'])
      expect(requests.map(({ query }) => query.get('resourceVersion'))).toEqual([null, '10', '10'])
      expect(errors).toHaveLength(fault === 'end' ? 0 : 1)
    },
  )

  test('after the idle timeout of an open connection', async () => {
    const script = faulty('silence', [{ act: 'put', name: 'a' }])
    const { next, requests, errors } = await startWatch(script.api.respond, { timing: { idleTimeout: 50 } })
    expect(await next(2)).toEqual(['listed', 'added default/a'])
    expect(requests.map(({ query }) => query.get('resourceVersion'))).toEqual([null, '10', '10'])
    expect(errors[0]).toContain('no data received for 50 ms')
  })

  test('after a bookmark without other events', async () => {
    const marked = JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '77' } } })
    let watches = 0
    const { next, requests } = await startWatch(({ query }) => {
      if (!query.has('watch')) return { json: { metadata: { resourceVersion: '9' }, items: [] } }
      if (++watches === 1) return { status: 200, text: `${marked}\n` }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '78' } }
      return { status: 200, text: `${JSON.stringify({ type: 'ADDED', object })}\n` }
    })
    expect(await next(2)).toEqual(['listed', 'added a'])
    expect(requests.map(({ query }) => query.get('resourceVersion'))).toEqual([null, '9', '77'])
  })
})

describe('a watch lists again and reports the difference', () => {
  test.each<WatchFault>(['gone', 'gone as an event', 'garbage', 'another event'])(
    'after the fault %s',
    async (fault) => {
      const script = faulty(fault, [
        { act: 'remove', name: 'a' },
        { act: 'remove', name: 'b' },
        { act: 'put', name: 'b' },
        { act: 'put', name: 'd' },
      ])
      for (const name of ['a', 'b', 'c']) script.put(name)
      const { next, requests, errors } = await startWatch(script.api.respond)
      expect(await next(4)).toHaveLength(4)
      expect(await next(5)).toEqual([
        'deleted default/b',
        'added default/b',
        'added default/d',
        'deleted default/a',
        'listed',
      ])
      expect(requests.map(({ query }) => query.has('watch'))).toEqual([false, true, false])
      expect(errors).toHaveLength(1)
    },
  )

  test('after five failed watch requests in a row', async () => {
    const { next, requests } = await startWatch(({ query }) =>
      query.has('watch')
        ? { by: (response) => void setTimeout(() => response.writeHead(504).end('Too large'), 15) }
        : { json: { metadata: { resourceVersion: '9' }, items: [] } },
    )
    expect(await next(2)).toEqual(['listed', 'listed'])
    expect(requests.map(({ query }) => query.has('watch'))).toEqual([
      false,
      ...Array.from({ length: 5 }, () => true),
      false,
    ])
  })

  test('at once if the continue token of the list has expired', async () => {
    const script = new WatchScript()
    for (const name of ['a', 'b', 'c']) script.put(name)
    const { next, requests } = await startWatch(
      (one) =>
        one.query.has('continue') ? { status: 410, json: { kind: 'Status' } } : script.api.respond(one),
      { limit: 2 },
    )
    expect(await next(4)).toEqual(['added default/a', 'added default/b', 'added default/c', 'listed'])
    expect(requests.map(({ query }) => query.get('limit'))).toEqual(['2', '2', null])
  })
})

test('a watch waits for Retry-After', async () => {
  const script = new WatchScript()
  const times: number[] = []
  const { next } = await startWatch((requests) => {
    times.push(performance.now())
    return times.length === 2
      ? { status: 429, headers: { 'retry-after': '1' }, text: 'later' }
      : script.api.respond(requests)
  })
  expect(await next(1)).toEqual(['listed'])
  const change = next(1)
  script.put('a')
  await change
  expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(999)
})

test('a watch waits longer after each failure, up to a limit', async () => {
  const times: number[] = []
  const script = new WatchScript()
  const { next } = await startWatch(
    (requests) => {
      times.push(performance.now())
      return times.length <= 6 ? { status: 403, text: 'not you' } : script.api.respond(requests)
    },
    { timing: { backoff: { initial: 4, max: 64 } } },
  )
  expect(await next(1)).toEqual(['listed'])
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  expect(pauses).toHaveLength(6)
  // Each pause is at least half of the current backoff, which doubles from 4 ms up to 64 ms. Timers may fire
  // one millisecond early.
  for (const [index, least] of [2, 4, 8, 16, 32, 32].entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(least - 1)
  }
})

describe('an abort ends a watch at once', () => {
  test('while no event arrives', async () => {
    const { next, stop, requests } = await startWatch(new WatchScript().api.respond)
    expect(await next(1)).toEqual(['listed'])
    const rest = next(1)
    setImmediate(() => stop.abort())
    expect(await rest).toEqual(['end'])
    expect(requests.length).toBeLessThanOrEqual(2)
  })

  test('in the middle of a list', async () => {
    const script = new WatchScript()
    for (const name of ['a', 'b', 'c']) script.put(name)
    const { next, stop } = await startWatch(script.api.respond)
    expect(await next(1)).toEqual(['added default/a'])
    stop.abort()
    expect(await next(1)).toEqual(['end'])
  })

  test('during a backoff', async () => {
    const { next, stop } = await startWatch(() => ({ status: 403, text: 'not you' }), {
      timing: { backoff: { initial: 60_000, max: 60_000 } },
    })
    const rest = next(1)
    setImmediate(() => stop.abort())
    expect(await rest).toEqual(['end'])
  })

  test('if the signal belongs to the client', async () => {
    const server = await serve(new WatchScript().api.respond)
    const over = new AbortController()
    const client = createClient([server.url], { signal: over.signal })
    const changes = new Watch(client, configMaps, { select }).changes(new AbortController().signal)
    expect((await changes.next()).value).toEqual({ type: 'listed' })
    const rest = changes.next()
    setImmediate(() => over.abort())
    expect(await rest).toEqual({ value: undefined, done: true })
  })
})

test('an object that cannot be parsed is reported as an error, stays unchanged, and does not stop the watch', async () => {
  const schema = kubeObject.extend({
    metadata: kubeObject.shape.metadata.extend({ resourceVersion: z.string().regex(/[02468]$/) }),
  })
  const script = new WatchScript()
  const server = await serve(script.api.respond)
  const errors: unknown[] = []
  const watch = new Watch(
    createClient([server.url]),
    { ...configMaps, schema },
    { select, onError: (error) => errors.push(error), timing },
  )
  script.put('odd')
  script.put('a')
  const changes = watch.changes(new AbortController().signal)
  expect((await changes.next()).value).toEqual({ type: 'added', key: 'default/a', object: '12' })
  expect((await changes.next()).value).toEqual({ type: 'listed' })
  const next = changes.next()
  script.put('a')
  script.put('b')
  expect((await next).value).toMatchObject({ type: 'added', key: 'default/b' })
  expect(watch.current.get('default/a')).toBe('12')
  expect(errors).toEqual([
    expect.objectContaining({
      code: 'KUBE_INVALID_RESPONSE',
      message: expect.stringContaining('default/odd'),
    }),
    expect.objectContaining({ code: 'KUBE_INVALID_RESPONSE', message: expect.stringContaining('default/a') }),
  ])
})

test('many watches over a dial function leave connections for requests', async () => {
  const script = new WatchScript()
  const server = await serve((requests) =>
    requests.path === '/version' ? { json: {} } : script.api.respond(requests),
  )
  const client = createClient([server.url], { dial: async (host, port) => connect({ host, port }) })
  const { signal } = new AbortController()
  const watches = Array.from({ length: 40 }, () =>
    new Watch(client, configMaps, { select, timing }).changes(signal),
  )
  await Promise.all(watches.map(async (changes) => changes.next()))
  const all = Promise.all(watches.map(async (changes) => changes.next()))
  expect(await client.request({ method: 'GET', path: '/version' })).toEqual({})
  script.put('a')
  expect((await all).map(({ value }) => (value ? inWords(value) : ''))).toEqual(
    watches.map(() => 'added default/a'),
  )
})
