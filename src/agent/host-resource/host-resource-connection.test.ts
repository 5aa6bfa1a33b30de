import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HostRequest } from '../../contract/host-resource.ts'
import { pollUntil } from '../../kit/poll.ts'
import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { FakeKubeApi } from '../../kube/testing/fake-kube-api.ts'
import { saveAppliedPlan } from '../records/state-file.ts'
import { manualClock } from '../heal/testing/fake-agent.ts'
import { watchPlan } from '../heal/watch-host.ts'
import { renewLocalCertificates } from '../renewal/renew-local.ts'
import { type AgentKind, RenewalTestCluster } from '../renewal/testing/renewal-cluster.ts'
import { runHostResourceConnection } from './host-resource-connection.ts'
import type { RequestHandlers } from './request-handlers.ts'
import { createFakeHandlers } from './testing/fake-handlers.ts'

let stack: AsyncDisposableStack
let cluster: RenewalTestCluster
let objects: FakeKubeApi
let requests: ReceivedRequest[]
let respond: (one: ReceivedRequest) => TestResponse
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  objects = new FakeKubeApi()
  requests = []
  respond = objects.respond
  cluster = stack.use(
    await RenewalTestCluster.create((one) => {
      requests.push(one)
      return respond(one)
    }),
  )
})
afterEach(async () => stack.disposeAsync())

const path = '/apis/hyperkube.dev/v1/hosts/n1'
const empty = { apiVersion: hostKind.apiVersion, kind: hostKind.kind, spec: {} }
const minute = 60_000

function request(id: string): HostRequest {
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const fence = { holder: 'a', transitions: 1 }
  return { id, fence, generation: 1, until: soon, action: { type: 'check' } }
}

async function startConnection(kind: AgentKind = 'worker', handlers: Partial<RequestHandlers> = {}) {
  const agent = await cluster.createAgent('n1', kind)
  const clock = manualClock(Date.now())
  const host = { ...agent.host, clock }
  const stop = new AbortController()
  const logged: string[] = []
  const running = runHostResourceConnection({
    ...{ host, plan: watchPlan(host), readReport: async () => ({ agent: '1.0.0' }), random: () => 1 },
    ...{ generation: () => 1, isLocked: async () => false, log: (text) => void logged.push(text) },
    handlers: { ...createFakeHandlers(host), ...handlers },
    signal: stop.signal,
  })
  const end = async (): Promise<void> => {
    stop.abort()
    await running
  }
  stack.defer(end)
  /** Advances the clock until the condition holds. */
  const later = async (what: string, check: () => boolean, step = 1000): Promise<void> =>
    pollUntil(
      what,
      async () => {
        await clock.pass(step)
        return check()
      },
      { timeoutMs: 30_000, intervalMs: 5 },
    ).then(() => undefined)
  return { ...agent, host, clock, logged, end, later }
}

const status = () => hostKind.schema.parse(objects.get(path)).status
const watches = (): number => requests.filter(({ query }) => query.get('watch') === 'true').length

test('the agent connects as its node and executes requests', async () => {
  objects.put(path, { ...empty, spec: { requests: [request('x')] } })
  const { later, logged } = await startConnection()
  await later('a result', () => status().results?.length === 1)
  expect(status()).toMatchObject({ agent: '1.0.0', results: [{ id: 'x', outcome: 'done' }] })
  expect(new Set(requests.map(({ user }) => user))).toEqual(new Set(['system:node:n1']))
  expect(logged).toEqual(['x: done'])
})

test('without Host objects in the cluster, the agent retries with growing intervals and logs nothing', async () => {
  respond = () => ({ status: 404, json: { kind: 'Status', message: 'the server could not find it' } })
  const { later, clock, logged } = await startConnection()
  await later('the first requests', () => requests.length === 1)
  for (const [index, pause] of [15_000, 30_000, minute, 2 * minute].entries()) {
    await clock.pass(pause - 1000)
    expect(requests).toHaveLength(index + 1)
    await later('the next request', () => requests.length === index + 2)
  }
  expect(logged).toEqual([])
  respond = objects.respond
  objects.put(path, empty)
  await later('a heartbeat', () => status().heartbeat !== undefined, 30_000)
})

test('a forbidden request is logged once', async () => {
  respond = () => ({ status: 403, json: { kind: 'Status', message: 'no' } })
  const { later, logged } = await startConnection()
  await later('the first requests', () => requests.length === 3, 15_000)
  expect(logged).toEqual([expect.stringContaining('KUBE_FORBIDDEN')])
})

test('a renewed certificate replaces the connection', async () => {
  objects.put(path, empty)
  const { later, deps } = await startConnection('control-plane')
  await later('the watch', () => watches() === 1)
  await renewLocalCertificates(deps)
  await later('the next watch', () => watches() === 2, 10_000)
  expect(objects.watching, 'the previous watch has ended').toBe(1)
})

test('a request in progress when the connection ends completes once, and is reported on the next connection', async () => {
  objects.put(path, { ...empty, spec: { requests: [request('x')] } })
  const gate = Promise.withResolvers<void>()
  let startCount = 0
  const check: RequestHandlers['check'] = async (_action, signal) => {
    startCount += 1
    await gate.promise
    return [`aborted: ${signal.aborted}`]
  }
  const { later, host, plan } = await startConnection('worker', { check })
  await later('the request to start', () => startCount === 1)
  await saveAppliedPlan(host, { ...plan, host: 'other' })
  await later('the connection to end', () => objects.watching === 0, 10_000)
  gate.resolve()
  await later('a result', () => status().results?.length === 1)
  expect(status().results).toMatchObject([{ id: 'x', outcome: 'done', details: ['aborted: false'] }])
  await later('the next connection', () => watches() === 2)
  expect(startCount).toBe(1)
})

test('a host that is not a node sends no requests', async () => {
  const { clock, end } = await startConnection('etcd')
  for (let i = 0; i < 10; i++) await clock.pass(minute)
  await end()
  expect(requests).toEqual([])
})
