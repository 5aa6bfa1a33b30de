import { expect, test } from 'vitest'
import type { Event } from '../contract/event.ts'
import type { AgentRequest } from '../contract/request.ts'
import { clusterWith, planInput } from '../plan/testing/fixtures.ts'
import { describeStep } from '../rollout/describe.ts'
import { step } from '../rollout/step.ts'
import { execute } from './execute.ts'
import type { Observer, Unwell } from './cluster-access.ts'
import { type Script, scriptedSession } from './testing/scripted-agent.ts'
import { eventStream } from './event-stream.ts'
import { easyInterior } from './testing/fake-cluster-writer.ts'
import { testWish } from './testing/cluster-inputs.ts'
import { nothing, planFrom, type Proposal, secretsOf } from './build-proposal.ts'
import type { TrialPods } from './smoke-test/smoke-test-pods.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)
const wish = await testWish(cluster)
const { plans } = planFrom(wish, planInput(cluster).facts, [])
const noPods = { put: async () => undefined, look: async () => new Map(), remove: async () => undefined }
const prepare = step({ hosts: ['cp1', 'w1'], stage: 'prepare' })
const etcd = step({ hosts: ['cp1'], stage: 'etcd', after: [{ kind: 'etcd-healthy', members: ['cp1'] }] })

const op = {
  component: 'etcd',
  stage: 'etcd',
  action: 'start',
  target: 'service',
  name: 'etcd',
  because: [],
} as const
const works: Script = async function* () {
  yield { type: 'op-ended', op: { ...op, because: [] }, result: { outcome: 'done' } }
  yield { type: 'run-ended', result: { outcome: 'done' } }
}

interface Scene {
  readonly script?: Script
  readonly inside?: Proposal['inside']
  readonly pods?: TrialPods
  readonly etcdWell?: () => Promise<Unwell>
  readonly signal?: AbortSignal
}

/** Executes two steps; answers with what was told and asked, and how it failed. */
async function run({
  script = works,
  inside = [],
  pods = noPods,
  etcdWell = async () => undefined,
  signal,
}: Scene) {
  const events: Event[] = []
  const asked: AgentRequest['ask'][] = []
  const well = async (): Promise<Unwell> => undefined
  const observer: Observer = {
    members: async () => [],
    remembered: async () => [],
    etcdIds: async () => new Map<string, string>(),
    inside: async () => undefined,
    etcdWell,
    apiReady: well,
    controllersReady: well,
    nodesReady: well,
    isVoter: well,
    drainFindings: async () => [],
    removedApis: async () => [],
  }
  const sessions = new Map(plans.map(({ host }) => [host, scriptedSession(host, { run: script, asked })]))
  const error: unknown = await execute(
    wish,
    { ...nothing, plans, steps: [prepare, etcd], inside },
    sessions,
    {
      claim: { holder: 'me', generation: 1 },
      observer,
      interior: { ...easyInterior, trialPods: pods },
      left: () => undefined,
      leavers: new Map(),
      tell: eventStream('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', () => new Date(), [
        (event) => void events.push(event),
      ]),
      now: () => new Date(),
      signal: signal ?? new AbortController().signal,
    },
  ).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  await Promise.all([...sessions.values()].map(async (session) => session.close()))
  return { error, asked, events, told: events.map(inShort) }
}

function inShort({ what, host }: Event): string {
  const outcome = 'result' in what ? ` ${what.result.outcome}` : ''
  const about = 'step' in what ? ` ${what.step}` : ''
  return `${what.type}${about}${outcome}${host === undefined ? '' : ` @${host}`}`
}

test('every step is planned, and told of as a whole and for each host', async () => {
  const { error, told, events } = await run({})
  expect(error).toBeUndefined()
  const planned = events.flatMap(({ what }) => (what.type === 'steps-planned' ? [what.steps] : []))
  expect(planned.at(-1)?.map(({ title }) => title)).toEqual([
    'certificates for cp1 and w1',
    ...[prepare, etcd].map(describeStep),
    'the rights of our programs',
    'labels and taints of nodes',
  ])
  const [whole, single] = [
    told.filter((line) => !line.includes('@')),
    told.filter((line) => line.includes('@')),
  ]
  expect(whole).toEqual([
    'steps-planned',
    'step-started certificates',
    'step-ended certificates done',
    'step-started prepare/cp1+1',
    'step-ended prepare/cp1+1 done',
    'step-started etcd/cp1',
    'step-ended etcd/cp1 done',
    'step-started objects',
    'step-ended objects done',
    'step-started nodes',
    'step-ended nodes done',
  ])
  expect(single.filter((line) => line.endsWith('@w1'))).toEqual([
    'step-started prepare/cp1+1 @w1',
    'op-ended done @w1',
    'step-ended prepare/cp1+1 done @w1',
  ])
})

test('hosts finish what they are at when somebody interrupts, and no other step begins', async () => {
  const person = new AbortController()
  const { error, told, asked } = await run({
    signal: person.signal,
    async *script() {
      person.abort()
      yield { type: 'op-ended', op: { ...op, because: [] }, result: { outcome: 'done' } }
      yield { type: 'run-ended', result: { outcome: 'done' } }
    },
  })
  expect(error).toBe(person.signal.reason)
  expect(told.slice(-3).toSorted()).toEqual([
    'step-ended prepare/cp1+1 done',
    'step-ended prepare/cp1+1 done @cp1',
    'step-ended prepare/cp1+1 done @w1',
  ])
  expect(asked.filter(({ type }) => type === 'apply')).toHaveLength(2)
})

test('a host whose agent was cut in the middle goes on; one that is cut again and again does not', async () => {
  let cuts = 2
  const script: Script = async function* (host, through) {
    if (host === 'cp1' && cuts-- > 0) yield { type: 'run-ended', result: { outcome: 'interrupted' } }
    else yield* works(host, through)
  }
  const { error, told } = await run({ script })
  expect(error).toBeUndefined()
  expect(told).toContain('step-ended prepare/cp1+1 done @cp1')
  cuts = 3
  expect((await run({ script })).error).toMatchObject({ code: 'AGENT_INTERRUPTED', host: 'cp1' })
})

test('a node whose trial was cut is tried again, and its pod is removed', async () => {
  const there = new Set(['w1'])
  const pods: TrialPods = {
    put: async (node) => void there.add(node),
    look: async () => new Map([...there].map((node) => [node, { ready: true, address: '10.244.0.2' }])),
    remove: async () => there.clear(),
  }
  const { error, told } = await run({ inside: [{ kind: 'trial', host: 'w1' }], pods })
  expect(error).toBeUndefined()
  expect(told.at(-1)).toBe('step-ended verify done')
  expect([...there]).toEqual([])
})

test('what is only waited for is given up at once', async () => {
  const person = new AbortController()
  const { error, told } = await run({
    signal: person.signal,
    async etcdWell() {
      person.abort()
      return 'cp1: connection refused'
    },
  })
  expect(error).toBe(person.signal.reason)
  expect(told.at(-1)).toBe('step-ended etcd/cp1 interrupted')
})

test('a host that fails is told of by name, and the others go on to their end', async () => {
  const failure = { code: 'APPLY_DISK_FULL', message: 'no room is left', hint: 'df -h' }
  const { error, told, events } = await run({
    async *script(host, through) {
      if (host === 'cp1') yield { type: 'run-ended', result: { outcome: 'failed', failure } }
      else yield* works(host, through)
    },
  })
  expect(error).toMatchObject({ code: 'APPLY_DISK_FULL', host: 'cp1' })
  expect(told).toContain('step-ended prepare/cp1+1 failed @cp1')
  expect(told).toContain('step-ended prepare/cp1+1 done @w1')
  expect(told.at(-1)).toBe('step-ended prepare/cp1+1 failed')
  const last = events.at(-1)?.what
  expect(last).toMatchObject({ result: { failure: { code: 'APPLY_DISK_FULL', hint: 'df -h' } } })
})

test('hosts get secrets, and nothing that is told has any of them', async () => {
  const { asked, events } = await run({})
  const secrets = [...secretsOf(wish).values()].map((secret) => Buffer.from(secret.reveal()))
  const sent = JSON.stringify(asked)
  expect(secrets.some((secret) => sent.includes(secret.toString('base64')))).toBe(true)
  const told = events.map((event) => JSON.stringify(event)).join('\n')
  expect(told).not.toMatch(/PRIVATE KEY|BEGIN /)
  for (const secret of secrets) {
    expect(told).not.toContain(secret.toString('base64'))
    expect(told).not.toContain(secret.toString('hex'))
    // As text, in the pieces that a message or a log would have of it.
    for (const line of secret
      .toString('utf8')
      .split('\n')
      .filter((text) => text.length >= 16)) {
      expect(told).not.toContain(line)
    }
  }
})
