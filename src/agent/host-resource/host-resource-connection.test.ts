import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HostRequest } from '../../contract/host-resource.ts'
import type { Asked, TestAnswer } from '../../kit/testing/https-test-server.ts'
import { until } from '../../kit/poll-until.ts'
import { hosts } from '../../kube/host-resource.ts'
import { TestObjects } from '../../kube/testing/fake-kube-api.ts'
import { rememberPlan } from '../apply/applied-plan.ts'
import { handClock } from '../heal/testing/fake-agent.ts'
import { watchPlan } from '../heal/watch-plan.ts'
import { renewOwn } from '../renewal/renew-local.ts'
import { type AgentKind, TestCluster } from '../renewal/testing/renewal-cluster.ts'
import type { Deeds } from './request-handlers.ts'
import { speakForHost } from './host-resource-connection.ts'
import { testDeeds } from './testing/fake-handlers.ts'

let stack: AsyncDisposableStack
let cluster: TestCluster
let objects: TestObjects
let asked: Asked[]
let answer: (one: Asked) => TestAnswer
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  objects = new TestObjects()
  asked = []
  answer = objects.answer
  cluster = stack.use(
    await TestCluster.make((one) => {
      asked.push(one)
      return answer(one)
    }),
  )
})
afterEach(async () => stack.disposeAsync())

const path = '/apis/hyperkube.dev/v1/hosts/n1'
const empty = { apiVersion: hosts.apiVersion, kind: hosts.kind, spec: {} }
const minute = 60_000

function request(id: string): HostRequest {
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const fence = { holder: 'a', transitions: 1 }
  return { id, fence, generation: 1, until: soon, ask: { type: 'check' } }
}

async function stage(kind: AgentKind = 'worker', deeds: Partial<Deeds> = {}) {
  const agent = await cluster.agent('n1', kind)
  const clock = handClock(Date.now())
  const host = { ...agent.host, clock }
  const stop = new AbortController()
  const said: string[] = []
  const running = speakForHost({
    ...{ host, plan: watchPlan(host), told: async () => ({ agent: '1.0.0' }), random: () => 1 },
    ...{ generation: () => 1, taken: async () => false, say: (text) => void said.push(text) },
    deeds: { ...testDeeds(host), ...deeds },
    signal: stop.signal,
  })
  const end = async (): Promise<void> => {
    stop.abort()
    await running
  }
  stack.defer(end)
  /** Time goes by until something is the case. */
  const later = async (what: string, look: () => boolean, step = 1000): Promise<void> =>
    until(
      what,
      async () => {
        await clock.pass(step)
        return look()
      },
      { within: 30_000, every: 5 },
    ).then(() => undefined)
  return { ...agent, host, clock, said, end, later }
}

const status = () => hosts.schema.parse(objects.get(path)).status
const watches = (): number => asked.filter(({ query }) => query.get('watch') === 'true').length

test('the agent speaks as its node, and does what is asked', async () => {
  objects.put(path, { ...empty, spec: { requests: [request('x')] } })
  const { later, said } = await stage()
  await later('an answer', () => status().results?.length === 1)
  expect(status()).toMatchObject({ agent: '1.0.0', results: [{ id: 'x', outcome: 'done' }] })
  expect(new Set(asked.map(({ user }) => user))).toEqual(new Set(['system:node:n1']))
  expect(said).toEqual(['x: done'])
})

test('where the cluster has no such objects it is asked again more and more rarely, and nothing is said', async () => {
  answer = () => ({ status: 404, json: { kind: 'Status', message: 'the server could not find it' } })
  const { later, clock, said } = await stage()
  await later('it to ask', () => asked.length === 1)
  for (const [turn, pause] of [15_000, 30_000, minute, 2 * minute].entries()) {
    await clock.pass(pause - 1000)
    expect(asked).toHaveLength(turn + 1)
    await later('it to ask again', () => asked.length === turn + 2)
  }
  expect(said).toEqual([])
  answer = objects.answer
  objects.put(path, empty)
  await later('a heartbeat', () => status().heartbeat !== undefined, 30_000)
})

test('that it may not is said once', async () => {
  answer = () => ({ status: 403, json: { kind: 'Status', message: 'no' } })
  const { later, said } = await stage()
  await later('it to ask', () => asked.length === 3, 15_000)
  expect(said).toEqual([expect.stringContaining('KUBE_FORBIDDEN')])
})

test('with another certificate there is another line', async () => {
  objects.put(path, empty)
  const { later, scene } = await stage('control-plane')
  await later('it to listen', () => watches() === 1)
  await renewOwn(scene)
  await later('it to listen anew', () => watches() === 2, 10_000)
  expect(objects.watching, 'and the former one is over').toBe(1)
})

test('what is being done when the line ends gets to its end, once, and is told on the next one', async () => {
  objects.put(path, { ...empty, spec: { requests: [request('x')] } })
  const gate = Promise.withResolvers<void>()
  let begun = 0
  const check: Deeds['check'] = async (_ask, signal) => {
    begun += 1
    await gate.promise
    return [`aborted: ${signal.aborted}`]
  }
  const { later, host, plan } = await stage('worker', { check })
  await later('it to begin', () => begun === 1)
  await rememberPlan(host, { ...plan, host: 'other' })
  await later('the line to end', () => objects.watching === 0, 10_000)
  gate.resolve()
  await later('an answer', () => status().results?.length === 1)
  expect(status().results).toMatchObject([{ id: 'x', outcome: 'done', details: ['aborted: false'] }])
  await later('the next line', () => watches() === 2)
  expect(begun).toBe(1)
})

test('a host that is no node asks nobody', async () => {
  const { clock, end } = await stage('etcd')
  for (let i = 0; i < 10; i++) await clock.pass(minute)
  await end()
  expect(asked).toEqual([])
})
