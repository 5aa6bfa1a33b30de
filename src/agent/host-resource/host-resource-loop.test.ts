import { beforeAll, expect, test } from 'vitest'
import type { HostRequest } from '../../contract/host-resource.ts'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import { until } from '../../kit/poll-until.ts'
import { hosts } from '../../kube/host-resource.ts'
import { testBench } from '../../kube/testing/kube-test-bench.ts'
import { TestObjects } from '../../kube/testing/fake-kube-api.ts'
import { systemClock } from '../host/clock.ts'
import { keepHostObject, type Told } from './host-resource-loop.ts'
import { RequestBook } from './request-store.ts'
import { doneOn, hostWithAgent, testDeeds } from './testing/fake-handlers.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})
const { serve, clientOf } = testBench(() => authority)

const path = '/apis/hyperkube.dev/v1/hosts/n1'
const empty = { apiVersion: hosts.apiVersion, kind: hosts.kind, spec: {} }

function request(id: string, transitions = 1): HostRequest {
  const soon = new Date(Date.now() + 60_000).toISOString()
  return { id, fence: { holder: 'a', transitions }, generation: 1, until: soon, ask: { type: 'check' } }
}

async function stage() {
  const stack = new AsyncDisposableStack()
  const host = stack.use(await hostWithAgent())
  const objects = new TestObjects()
  const { url, asked } = await serve(objects.answer)
  const stop = new AbortController()
  let told: Told = { agent: '1.0.0', components: [] }
  const start = async (signal = stop.signal, tells = async (): Promise<Told> => told): Promise<void> =>
    keepHostObject({
      ...{
        client: clientOf([url]),
        name: 'n1',
        told: tells,
        random: () => 0,
        signal,
        line: signal,
      },
      ...{ clock: systemClock, generation: () => 1, taken: async () => false, say: () => undefined },
      book: await RequestBook.open(host),
      deeds: testDeeds(host),
      timing: { backoff: { first: 2, most: 10 } },
    })
  const status = () => hosts.schema.parse(objects.get(path)).status
  const writes = () => asked.filter(({ method }) => method !== 'GET')
  const ask = (...requests: readonly HostRequest[]) => objects.change(path, { spec: { requests } })
  const soon = async (what: string, look: () => boolean) =>
    until(what, async () => look(), { within: 10_000, every: 5 })
  const tell = (next: Told): void => void (told = next)
  const end = { [Symbol.asyncDispose]: async (): Promise<void> => stack.disposeAsync() }
  return { ...end, host, objects, asked, stop, start, status, writes, ask, soon, tell }
}

test('an agent sees its own object alone, does what is asked there, and says what came of it', async () => {
  await using one = await stage()
  const { host, objects, asked, stop, start, status, writes, ask, soon } = one
  objects.put(path, empty)
  objects.put('/apis/hyperkube.dev/v1/hosts/n2', { ...empty, spec: { requests: [request('of-another')] } })
  const running = start()
  await soon('a heartbeat', () => status().heartbeat !== undefined)
  expect(status()).toMatchObject({ agent: '1.0.0', generation: 1, results: [] })
  ask(request('x'))
  await soon('an answer', () => status().results?.length === 1)
  expect(status()).toMatchObject({
    highest: { holder: 'a', transitions: 1 },
    results: [{ id: 'x', outcome: 'done', details: ['check'] }],
  })
  // The one that was newer is known, also when the watch has to begin anew.
  objects.cutWatches()
  ask(request('x'), request('y', 5), request('z', 4))
  await soon('two more', () => status().results?.length === 3)
  expect(status().results?.slice(1)).toMatchObject([
    { id: 'y', outcome: 'done' },
    { id: 'z', outcome: 'refused', reason: 'fence' },
  ])
  stop.abort()
  await running
  expect(await doneOn(host)).toHaveLength(2)
  const queries = asked
    .filter(({ method }) => method === 'GET')
    .map(({ query }) => query.get('fieldSelector'))
  expect(new Set(queries)).toEqual(new Set(['metadata.name=n1']))
  expect(new Set(writes().map((write) => write.path))).toEqual(new Set([`${path}/status`]))
})

test('nothing is written while nothing has changed, and what a controller says there stays', async () => {
  await using one = await stage()
  const { objects, stop, start, status, writes, soon, tell } = one
  const said = {
    type: 'CertificatesCurrent',
    status: 'True',
    reason: 'r',
    message: '',
    lastTransitionTime: 'x',
  }
  const conditions = [{ ...said, lastTransitionTime: '2026-11-16T08:00:00.000Z' }]
  objects.put(path, { ...empty, status: { conditions } })
  const running = start()
  await soon('a heartbeat', () => status().heartbeat !== undefined)
  const before = writes().length
  // Others change something about it that is no business of the agent.
  for (let turn = 0; turn < 5; turn++) objects.change(path, { metadata: { labels: { turn: String(turn) } } })
  tell({ agent: '1.0.1' })
  objects.change(path, { metadata: { labels: { turn: 'last' } } })
  await soon('news', () => status().agent === '1.0.1')
  expect(status().components, 'what is not said any more goes').toBeUndefined()
  expect(status().conditions).toEqual(conditions)
  expect(writes().length - before).toBe(1)
  stop.abort()
  await running
})

test('what is said to be done is seen in what is told beside it, however long that takes to find out', async () => {
  await using one = await stage()
  const { host, objects, stop, start, status, writes, ask, soon } = one
  objects.put(path, empty)
  const gate = Promise.withResolvers<void>()
  let [isSlow, isWaiting] = [false, false]
  const running = start(stop.signal, async () => {
    const agent = String((await doneOn(host)).length)
    isWaiting = isSlow
    if (isSlow) await gate.promise
    return { agent }
  })
  await soon('a heartbeat', () => status().heartbeat !== undefined)
  isSlow = true
  objects.change(path, { metadata: { labels: { some: 'change' } } })
  await soon('it to look', () => isWaiting)
  ask(request('x'))
  const memory = async () => (await host.files.read('/var/lib/hyperkube/agent/requests.json'))?.toString()
  await until('it to be done', async () => (await memory())?.includes('done'), { within: 10_000, every: 5 })
  gate.resolve()
  await soon('an answer', () => status().results?.length === 1)
  stop.abort()
  await running
  const told = writes().map(({ body }) => hosts.schema.parse({ ...empty, ...Object(body) }).status)
  for (const { agent, results } of told) expect(Number(agent)).toBeGreaterThanOrEqual(results?.length ?? 0)
})

test('a host without an object says nothing, and one that gets it does', async () => {
  await using one = await stage()
  const { objects, asked, stop, start, status, writes, soon } = one
  const running = start()
  await soon('it to watch', () => asked.some(({ query }) => query.get('watch') === 'true'))
  expect(writes()).toEqual([])
  objects.put(path, empty)
  await soon('a heartbeat', () => status().heartbeat !== undefined)
  stop.abort()
  await running
})
