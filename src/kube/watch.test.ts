import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import type { Asked, TestAnswer } from '../kit/testing/https-test-server.ts'
import { type KubeObject, kindOf, kubeObject } from './object.ts'
import { testBench } from './testing/kube-test-bench.ts'
import { type Act, type Fault, TestWatchApi } from './testing/fake-watch-api.ts'
import { Watch, type WatchChange, type WatchOptions } from './watch.ts'

let authority: TestAuthority
const { serve, clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const configMaps = kindOf('v1', 'ConfigMap')
const select = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? ''
const timing = { silence: 60_000, backoff: { first: 1, most: 4 } }

type Options = Partial<WatchOptions<KubeObject, string>>

/** What a watch of an API says, one change after the other, as `type key`. */
async function watching(
  answer: (asked: Asked) => TestAnswer,
  options: Options = {},
): Promise<{
  asked: readonly Asked[]
  watch: Watch<KubeObject, string>
  troubles: string[]
  stop: AbortController
  next: (count: number) => Promise<string[]>
}> {
  const server = await serve(answer)
  const client = clientOf([server.url], { timing: { answer: 5000 } })
  const troubles: string[] = []
  const watch = new Watch(client, configMaps, {
    select,
    onTrouble: (error) => troubles.push(error instanceof Error ? error.message : String(error)),
    random: () => 0,
    ...options,
    timing: { ...timing, ...options.timing },
  })
  const stop = new AbortController()
  const changes = watch.changes(stop.signal)
  const next = async (count: number): Promise<string[]> => {
    const told: string[] = []
    while (told.length < count) {
      const { value, done } = await changes.next()
      if (done === true) return [...told, 'end']
      told.push(inWords(value))
    }
    return told
  }
  return { asked: server.asked, watch, troubles, stop, next }
}

function inWords(change: WatchChange<string>): string {
  return change.type === 'listed' ? 'listed' : `${change.type} ${change.key}`
}

/** The list goes well; this happens to the watch, and these things before whatever is asked then. */
function faulty(fault: Fault, then: readonly Act[]): TestWatchApi {
  const during: Act[] = []
  return new TestWatchApi([
    { before: [], during, fault: 'end' },
    { before: [], during, fault },
    { before: then, during, fault: 'end' },
  ])
}

test('tells what is there, page by page, and then what happens to it', async () => {
  const api = new TestWatchApi()
  for (const name of ['a', 'b', 'c']) api.put(name)
  const { next, watch, asked } = await watching(api.answer, { limit: 2, namespace: 'default', labels: 'x=y' })
  expect(await next(4)).toEqual(['added default/a', 'added default/b', 'added default/c', 'listed'])
  const change = next(3)
  api.put('b')
  api.remove('a')
  api.put('d')
  expect(await change).toEqual(['modified default/b', 'deleted default/a', 'added default/d'])
  expect(watch.current).toEqual(
    new Map([
      ['default/b', '14'],
      ['default/c', '13'],
      ['default/d', '16'],
    ]),
  )
  expect(asked.map(({ path, query }) => `${path}?${query.toString()}`)).toEqual([
    '/api/v1/namespaces/default/configmaps?labelSelector=x%3Dy&limit=2',
    '/api/v1/namespaces/default/configmaps?labelSelector=x%3Dy&limit=2&continue=13+b',
    '/api/v1/namespaces/default/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=13&timeoutSeconds=300&labelSelector=x%3Dy',
  ])
})

describe('goes on where it was', () => {
  test.each<Fault>(['end', 'reset', 'half a line', 'crowded', 'broken', 'broken as an event'])(
    'after %s',
    async (fault) => {
      const api = faulty(fault, [{ act: 'put', name: 'a' }])
      const { next, asked, troubles } = await watching(api.answer)
      expect(await next(2)).toEqual(['listed', 'added default/a'])
      expect(asked.map(({ query }) => query.get('resourceVersion'))).toEqual([null, '10', '10'])
      expect(troubles).toHaveLength(fault === 'end' ? 0 : 1)
    },
  )

  test('after nothing has come for long, also over a connection that stands', async () => {
    const api = faulty('silence', [{ act: 'put', name: 'a' }])
    const { next, asked, troubles } = await watching(api.answer, { timing: { silence: 50 } })
    expect(await next(2)).toEqual(['listed', 'added default/a'])
    expect(asked.map(({ query }) => query.get('resourceVersion'))).toEqual([null, '10', '10'])
    expect(troubles[0]).toContain('nothing came for 50 ms')
  })

  test('from the last bookmark, where nothing else came', async () => {
    const marked = JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '77' } } })
    let watches = 0
    const { next, asked } = await watching(({ query }) => {
      if (!query.has('watch')) return { json: { metadata: { resourceVersion: '9' }, items: [] } }
      if (++watches === 1) return { status: 200, text: `${marked}\n` }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '78' } }
      return { status: 200, text: `${JSON.stringify({ type: 'ADDED', object })}\n` }
    })
    expect(await next(2)).toEqual(['listed', 'added a'])
    expect(asked.map(({ query }) => query.get('resourceVersion'))).toEqual([null, '9', '77'])
  })
})

describe('lists again and tells the difference', () => {
  test.each<Fault>(['gone', 'gone as an event', 'garbage', 'another event'])('after %s', async (fault) => {
    const api = faulty(fault, [
      { act: 'remove', name: 'a' },
      { act: 'remove', name: 'b' },
      { act: 'put', name: 'b' },
      { act: 'put', name: 'd' },
    ])
    for (const name of ['a', 'b', 'c']) api.put(name)
    const { next, asked, troubles } = await watching(api.answer)
    expect(await next(4)).toHaveLength(4)
    expect(await next(5)).toEqual([
      'deleted default/b',
      'added default/b',
      'added default/d',
      'deleted default/a',
      'listed',
    ])
    expect(asked.map(({ query }) => query.has('watch'))).toEqual([false, true, false])
    expect(troubles).toHaveLength(1)
  })

  test('after it could not go on for a while, whatever the reason, and however slowly it was told', async () => {
    const { next, asked } = await watching(({ query }) =>
      query.has('watch')
        ? { by: (response) => void setTimeout(() => response.writeHead(504).end('Too large'), 15) }
        : { json: { metadata: { resourceVersion: '9' }, items: [] } },
    )
    expect(await next(2)).toEqual(['listed', 'listed'])
    expect(asked.map(({ query }) => query.has('watch'))).toEqual([
      false,
      ...Array.from({ length: 5 }, () => true),
      false,
    ])
  })

  test('at once, where the rest of it is forgotten before it is fetched', async () => {
    const api = new TestWatchApi()
    for (const name of ['a', 'b', 'c']) api.put(name)
    const { next, asked } = await watching(
      (one) => (one.query.has('continue') ? { status: 410, json: { kind: 'Status' } } : api.answer(one)),
      { limit: 2 },
    )
    expect(await next(4)).toEqual(['added default/a', 'added default/b', 'added default/c', 'listed'])
    expect(asked.map(({ query }) => query.get('limit'))).toEqual(['2', '2', null])
  })
})

test('waits as long as it is asked to', async () => {
  const api = new TestWatchApi()
  const times: number[] = []
  const { next } = await watching((asked) => {
    times.push(performance.now())
    return times.length === 2
      ? { status: 429, headers: { 'retry-after': '1' }, text: 'later' }
      : api.answer(asked)
  })
  expect(await next(1)).toEqual(['listed'])
  const change = next(1)
  api.put('a')
  await change
  expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(999)
})

test('waits longer from failure to failure, up to a bound', async () => {
  const times: number[] = []
  const api = new TestWatchApi()
  const { next } = await watching(
    (asked) => {
      times.push(performance.now())
      return times.length <= 6 ? { status: 403, text: 'not you' } : api.answer(asked)
    },
    { timing: { backoff: { first: 4, most: 64 } } },
  )
  expect(await next(1)).toEqual(['listed'])
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  expect(pauses).toHaveLength(6)
  // At least half of 4, 8, 16 and so on.
  for (const [index, least] of [2, 4, 8, 16, 32, 32].entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(least - 1)
  }
})

describe('the signal ends it at once', () => {
  test('while nothing comes', async () => {
    const { next, stop, asked } = await watching(new TestWatchApi().answer)
    expect(await next(1)).toEqual(['listed'])
    const rest = next(1)
    setImmediate(() => stop.abort())
    expect(await rest).toEqual(['end'])
    expect(asked.length).toBeLessThanOrEqual(2)
  })

  test('in the middle of a list', async () => {
    const api = new TestWatchApi()
    for (const name of ['a', 'b', 'c']) api.put(name)
    const { next, stop } = await watching(api.answer)
    expect(await next(1)).toEqual(['added default/a'])
    stop.abort()
    expect(await next(1)).toEqual(['end'])
  })

  test('while it waits', async () => {
    const { next, stop } = await watching(() => ({ status: 403, text: 'not you' }), {
      timing: { backoff: { first: 60_000, most: 60_000 } },
    })
    const rest = next(1)
    setImmediate(() => stop.abort())
    expect(await rest).toEqual(['end'])
  })

  test('also when it is the client’s', async () => {
    const server = await serve(new TestWatchApi().answer)
    const over = new AbortController()
    const client = clientOf([server.url], { signal: over.signal })
    const changes = new Watch(client, configMaps, { select }).changes(new AbortController().signal)
    expect((await changes.next()).value).toEqual({ type: 'listed' })
    const rest = changes.next()
    setImmediate(() => over.abort())
    expect(await rest).toEqual({ value: undefined, done: true })
  })
})

test('an object that is not understood is told as trouble, stays as it was, and stops nobody', async () => {
  const schema = kubeObject.extend({
    metadata: kubeObject.shape.metadata.extend({ resourceVersion: z.string().regex(/[02468]$/) }),
  })
  const api = new TestWatchApi()
  const server = await serve(api.answer)
  const troubles: unknown[] = []
  const watch = new Watch(
    clientOf([server.url]),
    { ...configMaps, schema },
    { select, onTrouble: (error) => troubles.push(error), timing },
  )
  api.put('odd')
  api.put('a')
  const changes = watch.changes(new AbortController().signal)
  expect((await changes.next()).value).toEqual({ type: 'added', key: 'default/a', object: '12' })
  expect((await changes.next()).value).toEqual({ type: 'listed' })
  const next = changes.next()
  api.put('a')
  api.put('b')
  expect((await next).value).toMatchObject({ type: 'added', key: 'default/b' })
  expect(watch.current.get('default/a')).toBe('12')
  expect(troubles).toEqual([
    expect.objectContaining({ code: 'KUBE_ANSWER', message: expect.stringContaining('default/odd') }),
    expect.objectContaining({ code: 'KUBE_ANSWER', message: expect.stringContaining('default/a') }),
  ])
})

test('many watches leave connections for requests, over whatever way', async () => {
  const api = new TestWatchApi()
  const server = await serve((asked) => (asked.path === '/version' ? { json: {} } : api.answer(asked)))
  const client = clientOf([server.url], { dial: async (host, port) => connect({ host, port }) })
  const { signal } = new AbortController()
  const watches = Array.from({ length: 40 }, () =>
    new Watch(client, configMaps, { select, timing }).changes(signal),
  )
  await Promise.all(watches.map(async (changes) => changes.next()))
  const all = Promise.all(watches.map(async (changes) => changes.next()))
  expect(await client.request({ method: 'GET', path: '/version' })).toEqual({})
  api.put('a')
  expect((await all).map(({ value }) => (value ? inWords(value) : ''))).toEqual(
    watches.map(() => 'added default/a'),
  )
})
