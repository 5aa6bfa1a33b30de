import { array, assert, asyncProperty, constantFrom, record } from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { startHttpsTestServer } from '../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import { Informer, Informers, WatchSpec } from './informers.ts'
import { createUntypedKind } from './object.ts'
import { WatchScript, watchFaults } from './testing/watch-script.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'
import { type RecordedObject, toRecordedObject } from './testing/watch-recorder.ts'

let ca: TestCa
const { serve, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

function parityOf({ version }: RecordedObject): string[] {
  return [version % 2 === 0 ? 'even' : 'odd']
}

const configMaps = new WatchSpec({
  name: 'configmaps',
  kind: createUntypedKind('v1', 'ConfigMap'),
  select: toRecordedObject,
  indexes: [['parity', parityOf]],
})

const acts = array(record({ name: constantFrom('a', 'b', 'c'), act: constantFrom('put', 'put', 'remove') }), {
  maxLength: 4,
})
const turns = array(record({ before: acts, during: acts, fault: constantFrom(...watchFaults) }), {
  maxLength: 12,
})
const numRuns = Math.ceil(Number(process.env['PROPERTY_RUNS'] ?? 100) / 10)

test('through connection faults, indexes match the known objects at every change', async () => {
  await assert(
    asyncProperty(turns, async (requests) => {
      const script = new WatchScript(requests)
      await using server = await startHttpsTestServer(ca, (request) => {
        if (script.requestsLeft === 0 && !script.has('end')) script.put('end')
        return script.api.respond(request)
      })
      using client = createClient([server.url], { timing: { responseMs: 150, timeout: 200 } })
      const timing = { idleTimeout: 50, backoff: { initial: 1, max: 4 } }
      const informers = new Informers(client, { onError: () => undefined, timing })
      const informer = informers.getInformer(configMaps)
      const stop = new AbortController()
      const wrong: string[] = []
      informer.listen(({ key }) => {
        const all = [...informer.keys()].flatMap((one) => informer.get(one) ?? [])
        const odd = all.filter((observed) => observed.version % 2 === 1)
        if (odd.length !== informer.byIndex('parity', 'odd').length) wrong.push(key)
        if (key === 'default/end') stop.abort()
      })
      await informers.run(AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]))
      expect(stop.signal.aborted).toBe(true)
      expect(wrong).toEqual([])
    }),
    { numRuns, endOnFailure: true },
  )
})

test('listeners share one watch; each gets all changes, also existing objects', async () => {
  const script = new WatchScript()
  script.put('a')
  const server = await serve(script.api.respond)
  const informers = new Informers(createClient([server.url]), { onError: () => undefined })
  const [one, other] = [informers.getInformer(configMaps), informers.getInformer(configMaps)]
  expect(other).toBe(one)
  expect(informers.all).toHaveLength(1)
  const received: string[] = []
  one.listen(({ type, key }) => received.push(`first: ${type} ${key}`))
  const stop = new AbortController()
  const running = informers.run(stop.signal)
  await one.synced
  expect(one.isSynced).toBe(true)
  const put = Promise.withResolvers<void>()
  const leave = other.listen(({ type, key }) => {
    received.push(`second: ${type} ${key}`)
    if (key === 'default/b') put.resolve()
  })
  script.put('b')
  await put.promise
  leave()
  expect(received).toEqual([
    'first: added default/a',
    'second: added default/a',
    'first: added default/b',
    'second: added default/b',
  ])
  expect(server.requests.filter(({ query }) => query.get('watch') === 'true')).toHaveLength(1)
  const late = new WatchSpec({
    name: 'late',
    kind: createUntypedKind('v1', 'Secret'),
    select: toRecordedObject,
  })
  expect(() => informers.getInformer(late)).toThrow('informers run already, without late')
  stop.abort()
  await running
})

describe('an informer', () => {
  test('notifies the other listeners if one throws', async () => {
    const errors: unknown[] = []
    const watched = {
      current: new Map(),
      indexes: { findKeys: () => new Set<string>(), *counts() {} },
      async *changes() {
        yield { type: 'added' as const, key: 'a', object: 1 }
      },
    }
    const informer = new Informer<number>('x', watched, (error) => errors.push(error))
    const received: string[] = []
    informer.listen(() => {
      throw new Error('deaf')
    })
    informer.listen(({ key }) => received.push(key))
    await informer.run(new AbortController().signal)
    expect([received, errors]).toMatchObject([['a'], [{ message: 'deaf' }]])
  })

  test('is not synced if it stops before the first list is complete', async () => {
    const server = await serve(() => ({ silent: true }))
    const informers = new Informers(createClient([server.url]), { onError: () => undefined })
    const informer = informers.getInformer(configMaps)
    const stop = new AbortController()
    const running = informers.run(stop.signal)
    setImmediate(() => stop.abort())
    await running
    expect(informer.isSynced).toBe(false)
  })
})

test('the required access of a watch follows from its kind and namespace', () => {
  expect(configMaps.requiredAccess).toEqual({ group: '', plural: 'configmaps', namespace: undefined })
  const guests = {
    name: 'guests',
    kind: createUntypedKind('example.dev/v1', 'Guest'),
    namespace: 'x',
    select: toRecordedObject,
  }
  expect(new WatchSpec({ ...guests, plural: 'guests' }).requiredAccess).toEqual({
    group: 'example.dev',
    plural: 'guests',
    namespace: 'x',
  })
  expect(() => new WatchSpec(guests).requiredAccess).toThrow('has no plural')
})
