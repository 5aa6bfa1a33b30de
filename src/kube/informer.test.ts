import { array, assert, asyncProperty, constantFrom, record } from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { testServer } from '../kit/testing/https-test-server.ts'
import { Informer } from './informer.ts'
import { Informers } from './informers.ts'
import { kindOf } from './object.ts'
import { Source } from './watch-spec.ts'
import { testBench } from './testing/kube-test-bench.ts'
import { type Seen, seenOf } from './testing/watch-recorder.ts'
import { faults, TestWatchApi } from './testing/fake-watch-api.ts'

let authority: TestAuthority
const { serve, clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

function parityOf({ version }: Seen): string[] {
  return [version % 2 === 0 ? 'even' : 'odd']
}

const configMaps = new Source({
  name: 'configmaps',
  kind: kindOf('v1', 'ConfigMap'),
  select: seenOf,
  indexes: [['parity', parityOf]],
})

const acts = array(record({ name: constantFrom('a', 'b', 'c'), act: constantFrom('put', 'put', 'remove') }), {
  maxLength: 4,
})
const turns = array(record({ before: acts, during: acts, fault: constantFrom(...faults) }), { maxLength: 12 })
const numRuns = Math.ceil(Number(process.env['PROPERTY_RUNS'] ?? 100) / 10)

test('whatever happens to connections, indexes are those of what is known, at every change', async () => {
  await assert(
    asyncProperty(turns, async (script) => {
      const api = new TestWatchApi(script)
      await using server = await testServer(authority, (asked) => {
        if (api.turnsLeft === 0 && !api.objects.has('end')) api.put('end')
        return api.answer(asked)
      })
      using client = clientOf([server.url], { timing: { answer: 150, timeout: 200 } })
      const timing = { silence: 50, backoff: { first: 1, most: 4 } }
      const informers = new Informers(client, { onTrouble: () => undefined, timing })
      const informer = informers.of(configMaps)
      const stop = new AbortController()
      const wrong: string[] = []
      informer.listen(({ key }) => {
        const all = [...informer.keys()].flatMap((one) => informer.get(one) ?? [])
        const odd = all.filter((seen) => seen.version % 2 === 1)
        if (odd.length !== informer.by('parity', 'odd').length) wrong.push(key)
        if (key === 'default/end') stop.abort()
      })
      await informers.run(AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]))
      expect(stop.signal.aborted).toBe(true)
      expect(wrong).toEqual([])
    }),
    { numRuns, endOnFailure: true },
  )
})

test('all who want to know share one watch; each is told all, also of what was there before', async () => {
  const api = new TestWatchApi()
  api.put('a')
  const server = await serve(api.answer)
  const informers = new Informers(clientOf([server.url]), { onTrouble: () => undefined })
  const [one, other] = [informers.of(configMaps), informers.of(configMaps)]
  expect(other).toBe(one)
  expect(informers.all).toHaveLength(1)
  const heard: string[] = []
  one.listen(({ type, key }) => heard.push(`first: ${type} ${key}`))
  const stop = new AbortController()
  const running = informers.run(stop.signal)
  await one.synced
  expect(one.isSynced).toBe(true)
  const put = Promise.withResolvers<void>()
  const leave = other.listen(({ type, key }) => {
    heard.push(`second: ${type} ${key}`)
    if (key === 'default/b') put.resolve()
  })
  api.put('b')
  await put.promise
  leave()
  expect(heard).toEqual([
    'first: added default/a',
    'second: added default/a',
    'first: added default/b',
    'second: added default/b',
  ])
  expect(server.asked.filter(({ query }) => query.get('watch') === 'true')).toHaveLength(1)
  const late = new Source({ name: 'late', kind: kindOf('v1', 'Secret'), select: seenOf })
  expect(() => informers.of(late)).toThrow('informers run already, without late')
  stop.abort()
  await running
})

describe('an informer', () => {
  test('tells the others when one cannot listen', async () => {
    const troubles: unknown[] = []
    const watched = {
      current: new Map(),
      indexes: { keysOf: () => new Set<string>(), *counts() {} },
      async *changes() {
        yield { type: 'added' as const, key: 'a', object: 1 }
      },
    }
    const informer = new Informer<number>('x', watched, (error) => troubles.push(error))
    const heard: string[] = []
    informer.listen(() => {
      throw new Error('deaf')
    })
    informer.listen(({ key }) => heard.push(key))
    await informer.run(new AbortController().signal)
    expect([heard, troubles]).toMatchObject([['a'], [{ message: 'deaf' }]])
  })

  test('that is ended before it knows all never says that it does', async () => {
    const server = await serve(() => ({ silent: true }))
    const informers = new Informers(clientOf([server.url]), { onTrouble: () => undefined })
    const informer = informers.of(configMaps)
    const stop = new AbortController()
    const running = informers.run(stop.signal)
    setImmediate(() => stop.abort())
    await running
    expect(informer.isSynced).toBe(false)
  })
})

test('what has to be allowed follows from what is watched', () => {
  expect(configMaps.right).toEqual({ group: '', plural: 'configmaps', namespace: undefined })
  const guests = { name: 'guests', kind: kindOf('example.dev/v1', 'Guest'), namespace: 'x', select: seenOf }
  expect(new Source({ ...guests, plural: 'guests' }).right).toEqual({
    group: 'example.dev',
    plural: 'guests',
    namespace: 'x',
  })
  expect(() => new Source(guests).right).toThrow('has no plural')
})
