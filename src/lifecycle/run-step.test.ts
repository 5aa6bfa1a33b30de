import { expect, test } from 'vitest'
import type { AgentRequest } from '../contract/request.ts'
import { clusterWith, planInput } from '../plan/testing/fixtures.ts'
import { type LeaveStep, step } from '../rollout/step.ts'
import type { Membership } from './cluster-access.ts'
import { type Script, type Scripted, scriptedSession, works } from './testing/scripted-agent.ts'
import { eventStream } from './event-stream.ts'
import { planFrom } from './build-proposal.ts'
import { easyInterior } from './testing/fake-cluster-writer.ts'
import { testWish } from './testing/cluster-inputs.ts'
import { depart, visit } from './run-step.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)
const wish = await testWish(cluster)
const { plans } = planFrom(wish, planInput(cluster).facts, [])
const [cp1, w1] = plans
if (cp1 === undefined || w1 === undefined) throw new Error('there are no plans')
const former = {
  ...w1,
  components: w1.components.map((one) => (one.name === 'kubelet' ? { ...one, version: '1.36.4' } : one)),
}

/** Fails as often as it is said to. */
function fails(times: number): Script {
  let left = times
  return async function* () {
    const failure = { code: 'SERVICE_FAILED', message: 'kubelet.service does not come up' }
    yield { type: 'run-ended', result: left-- > 0 ? { outcome: 'failed', failure } : { outcome: 'done' } }
  }
}

async function scene(host: string, scripted: Partial<Scripted>, done: string[]) {
  const asked: AgentRequest['ask'][] = []
  const session = scriptedSession(host, { run: works, asked, ...scripted })
  const noted = (what: string) => async (name: string) => void done.push(`${what} ${name}`)
  const interior: Membership = {
    ...easyInterior,
    async joinEtcd(name) {
      done.push(`join ${name}`)
      return [{ name, address: '10.0.0.1' }]
    },
    promote: noted('promote'),
    leaveEtcd: noted('leave etcd'),
    drain: noted('drain'),
    uncordon: noted('uncordon'),
    removeNode: noted('remove node'),
  }
  const options = {
    claim: { holder: 'me', generation: 1 },
    left: (name: string) => void done.push(`left ${name}`),
    leavers: new Map([[host, session]]),
    interior,
    tell: eventStream('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', () => new Date(), []),
    now: () => new Date(),
    signal: new AbortController().signal,
  }
  const luggage = {
    wish,
    plans,
    sessions: new Map([[host, session]]),
    certificates: new Map(),
    pass: async () => void done.push('gates'),
  }
  return { options, luggage, asked }
}

const upgrade = step({
  hosts: ['w1'],
  stage: 'network',
  stages: ['node', 'network'],
  drain: true,
  disruptive: true,
})

test('pods go, the host is changed, and they may come back once it is well', async () => {
  const done: string[] = []
  const { options, luggage, asked } = await scene('w1', {}, done)
  await visit(upgrade, luggage, options)
  expect(done).toEqual(['drain w1', 'gates', 'uncordon w1'])
  expect(asked.map(({ type }) => type)).toEqual(['hello', 'apply', 'attach'])
})

test('what does not come up goes back to what it was, and that is what is said', async () => {
  const done: string[] = []
  const { options, luggage, asked } = await scene(
    'w1',
    {
      run: fails(1),
      answer: (ask) => (ask.type === 'former-plan' ? { type: 'former-plan', plan: former } : undefined),
    },
    done,
  )
  await expect(visit(upgrade, luggage, options)).rejects.toMatchObject({
    code: 'ROLLOUT_WENT_BACK',
    message: expect.stringMatching(/kubelet.service does not come up.*w1 went back/),
  })
  const applied = asked.flatMap((ask) => (ask.type === 'apply' ? [ask.plan] : []))
  expect(applied.map(({ components }) => components.find(({ name }) => name === 'kubelet')?.version)).toEqual(
    ['1.37.1', '1.36.4'],
  )
  expect(done).toEqual(['drain w1', 'gates', 'uncordon w1'])
})

test('when that does not end well either, both are said, and no pod comes back', async () => {
  const done: string[] = []
  const { options, luggage } = await scene(
    'w1',
    {
      run: fails(2),
      answer: (ask) => (ask.type === 'former-plan' ? { type: 'former-plan', plan: former } : undefined),
    },
    done,
  )
  await expect(visit(upgrade, luggage, options)).rejects.toMatchObject({ code: 'ROLLOUT_NOT_BACK' })
  expect(done).toEqual(['drain w1'])
})

test('where there was nothing before, the error is the error', async () => {
  const { options, luggage } = await scene('w1', { run: fails(1) }, [])
  await expect(visit(upgrade, luggage, options)).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
})

test('a new member has its place before it starts, and votes afterwards', async () => {
  const done: string[] = []
  const { options, luggage, asked } = await scene('cp1', {}, done)
  const joins = step({
    hosts: ['cp1'],
    stage: 'etcd',
    after: [{ kind: 'etcd-member-promoted', host: 'cp1' }],
  })
  await visit(joins, luggage, options)
  expect(done).toEqual(['join cp1', 'promote cp1', 'gates'])
  const texts = asked.flatMap((ask) =>
    ask.type === 'apply'
      ? ask.plan.components.flatMap(({ files }) => files.map(({ content }) => content))
      : [],
  )
  expect(texts).toContainEqual({
    kind: 'text',
    text: expect.stringContaining(
      'ETCD_INITIAL_CLUSTER=cp1=https://10.0.0.1:2380\nETCD_INITIAL_CLUSTER_STATE=existing',
    ),
  })
})

const leaves: LeaveStep = {
  id: 'leave/cp1',
  what: 'leave',
  hosts: ['cp1'],
  host: 'cp1',
  live: { member: true, controlPlane: true, node: true },
  lost: false,
  before: [],
  after: [],
  drain: true,
  disruptive: true,
}

test('a control plane leaves: pods, API server, etcd, everything of ours, its node', async () => {
  const done: string[] = []
  const { options, asked } = await scene('cp1', {}, done)
  await depart(leaves, options)
  expect(done).toEqual(['drain cp1', 'leave etcd cp1', 'left cp1', 'remove node cp1'])
  expect(asked.map(({ type }) => type)).toEqual(['hello', 'stop-services', 'attach', 'reset', 'attach'])
})

test('one that is lost is asked for nothing', async () => {
  const done: string[] = []
  const { options, asked } = await scene('cp1', {}, done)
  await depart({ ...leaves, lost: true }, { ...options, leavers: new Map() })
  expect(done).toEqual(['drain cp1', 'leave etcd cp1', 'left cp1', 'remove node cp1'])
  expect(asked).toEqual([])
})
