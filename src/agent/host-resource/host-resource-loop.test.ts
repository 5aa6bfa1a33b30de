import { beforeAll, expect, test } from 'vitest'
import type { HostRequest, HostStatus } from '../../contract/host-resource.ts'
import { pollUntil } from '../../kit/poll.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { FakeKubeApi } from '../../kube/testing/fake-kube-api.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import { systemClock } from '../host/clock.ts'
import {
  heartbeatIntervalMs,
  type HostReport,
  isStatusDue,
  runHostResourceLoop,
} from './host-resource-loop.ts'
import { HostRequestStore } from './request-store.ts'
import { createFakeHandlers, createHostWithAgent, listHandled } from './testing/fake-handlers.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})
const { serve, createClient } = createKubeTestBench(() => ca)

const path = '/apis/hyperkube.dev/v1/hosts/n1'
const empty = { apiVersion: hostKind.apiVersion, kind: hostKind.kind, spec: {} }

function request(id: string, transitions = 1): HostRequest {
  const soon = new Date(Date.now() + 60_000).toISOString()
  return { id, fence: { holder: 'a', transitions }, generation: 1, until: soon, action: { type: 'check' } }
}

async function setUpLoop() {
  const stack = new AsyncDisposableStack()
  const host = stack.use(await createHostWithAgent())
  const objects = new FakeKubeApi()
  const { url, requests: apiRequests } = await serve(objects.respond)
  const stop = new AbortController()
  let report: HostReport = { agent: '1.0.0', components: [] }
  const start = async (
    signal = stop.signal,
    readReport = async (): Promise<HostReport> => report,
  ): Promise<void> =>
    runHostResourceLoop({
      ...{
        client: createClient([url]),
        name: 'n1',
        readReport: readReport,
        random: () => 0,
        signal,
        connectionSignal: signal,
      },
      ...{ clock: systemClock, generation: () => 1, isLocked: async () => false, log: () => undefined },
      store: await HostRequestStore.open(host),
      handlers: createFakeHandlers(host),
      timing: { backoff: { initial: 2, max: 10 } },
    })
  const status = () => hostKind.schema.parse(objects.get(path)).status
  const writes = () => apiRequests.filter(({ method }) => method !== 'GET')
  const setRequests = (...requests: readonly HostRequest[]) => objects.change(path, { spec: { requests } })
  const soon = async (what: string, check: () => boolean) =>
    pollUntil(what, async () => check(), { timeoutMs: 10_000, intervalMs: 5 })
  const setReport = (next: HostReport): void => void (report = next)
  const end = { [Symbol.asyncDispose]: async (): Promise<void> => stack.disposeAsync() }
  return { ...end, host, objects, apiRequests, stop, start, status, writes, setRequests, soon, setReport }
}

test('an agent reads only its own object, executes its requests and reports their results', async () => {
  await using one = await setUpLoop()
  const { host, objects, apiRequests, stop, start, status, writes, setRequests, soon } = one
  objects.put(path, empty)
  objects.put('/apis/hyperkube.dev/v1/hosts/n2', { ...empty, spec: { requests: [request('of-another')] } })
  const running = start()
  await soon('a heartbeat', () => status().heartbeat !== undefined)
  expect(status()).toMatchObject({ agent: '1.0.0', generation: 1, results: [] })
  setRequests(request('x'))
  await soon('a result', () => status().results?.length === 1)
  expect(status()).toMatchObject({
    highestFence: { holder: 'a', transitions: 1 },
    results: [{ id: 'x', outcome: 'done', details: ['check'] }],
  })
  // Results survive a restart of the watch.
  objects.cutWatches()
  setRequests(request('x'), request('y', 5), request('z', 4))
  await soon('two more results', () => status().results?.length === 3)
  expect(status().results?.slice(1)).toMatchObject([
    { id: 'y', outcome: 'done' },
    { id: 'z', outcome: 'refused', reason: 'fence' },
  ])
  stop.abort()
  await running
  expect(await listHandled(host)).toHaveLength(2)
  const queries = apiRequests
    .filter(({ method }) => method === 'GET')
    .map(({ query }) => query.get('fieldSelector'))
  expect(new Set(queries)).toEqual(new Set(['metadata.name=n1']))
  expect(new Set(writes().map((write) => write.path))).toEqual(new Set([`${path}/status`]))
})

test('an unchanged status is not written, and conditions of controllers stay', async () => {
  await using one = await setUpLoop()
  const { objects, stop, start, status, writes, soon, setReport } = one
  const condition = {
    type: 'CertificatesCurrent',
    status: 'True',
    reason: 'r',
    message: '',
    lastTransitionTime: 'x',
  }
  const conditions = [{ ...condition, lastTransitionTime: '2026-11-16T08:00:00.000Z' }]
  objects.put(path, { ...empty, status: { conditions } })
  const running = start()
  await soon('a heartbeat', () => status().heartbeat !== undefined)
  const before = writes().length
  // The agent ignores label changes by other clients.
  for (let index = 0; index < 5; index++)
    objects.change(path, { metadata: { labels: { turn: String(index) } } })
  setReport({ agent: '1.0.1' })
  objects.change(path, { metadata: { labels: { turn: 'last' } } })
  await soon('the new report', () => status().agent === '1.0.1')
  expect(status().components, 'fields that are no longer reported are removed').toBeUndefined()
  expect(status().conditions).toEqual(conditions)
  expect(writes().length - before).toBe(1)
  stop.abort()
  await running
})

test('a result is never written with a status from before its action', async () => {
  await using one = await setUpLoop()
  const { host, objects, stop, start, status, writes, setRequests, soon } = one
  objects.put(path, empty)
  const gate = Promise.withResolvers<void>()
  let [isSlow, isWaiting] = [false, false]
  const running = start(stop.signal, async () => {
    const agent = String((await listHandled(host)).length)
    isWaiting = isSlow
    if (isSlow) await gate.promise
    return { agent }
  })
  await soon('a heartbeat', () => status().heartbeat !== undefined)
  isSlow = true
  objects.change(path, { metadata: { labels: { some: 'change' } } })
  await soon('the slow report', () => isWaiting)
  setRequests(request('x'))
  const readState = async () => (await host.files.read('/var/lib/hyperkube/agent/requests.json'))?.toString()
  await pollUntil('the result on disk', async () => (await readState())?.includes('done'), {
    timeoutMs: 10_000,
    intervalMs: 5,
  })
  gate.resolve()
  await soon('a result', () => status().results?.length === 1)
  stop.abort()
  await running
  const report = writes().map(({ body }) => hostKind.schema.parse({ ...empty, ...Object(body) }).status)
  for (const { agent, results } of report) expect(Number(agent)).toBeGreaterThanOrEqual(results?.length ?? 0)
})

test('a host writes no status until its Host object exists', async () => {
  await using one = await setUpLoop()
  const { objects, apiRequests, stop, start, status, writes, soon } = one
  const running = start()
  await soon('the watch', () => apiRequests.some(({ query }) => query.get('watch') === 'true'))
  expect(writes()).toEqual([])
  objects.put(path, empty)
  await soon('a heartbeat', () => status().heartbeat !== undefined)
  stop.abort()
  await running
})

const now = Date.parse('2026-11-16T08:00:00Z')
const at = (ago: number): string => new Date(now - ago).toISOString()
const previous: HostStatus = { agent: '1.0.0', heartbeat: at(1000), results: [] }

test('a heartbeat is due after its interval, and after the clock was set back', () => {
  const same = { ...previous, heartbeat: at(0) }
  expect(isStatusDue(previous, same, now)).toBe(false)
  expect(isStatusDue({ ...previous, heartbeat: at(heartbeatIntervalMs) }, same, now)).toBe(true)
  expect(isStatusDue({ ...previous, heartbeat: at(-60_000) }, same, now)).toBe(true)
  expect(isStatusDue({}, same, now)).toBe(true)
})

test('any other change is due at once, except conditions of controllers', () => {
  expect(isStatusDue(previous, { ...previous, agent: '1.0.1' }, now)).toBe(true)
  expect(isStatusDue(previous, { ...previous, suspended: 'paused' }, now)).toBe(true)
  const conditions = [
    { type: 'X', status: 'True' as const, reason: '', message: '', lastTransitionTime: at(0) },
  ]
  expect(isStatusDue({ ...previous, conditions }, previous, now)).toBe(false)
})
