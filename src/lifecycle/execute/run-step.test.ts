import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest } from '../../contract/request.ts'
import { buildTestCluster, buildPlanInput } from '../../plan/testing/fixtures.ts'
import { type RemoveStep, buildApplyStep } from '../../rollout/step.ts'
import {
  type AgentScript,
  type ScriptedAgent,
  scriptedSession,
  successfulRun,
} from '../testing/scripted-agent.ts'
import { createEventStream } from '../agents/event-stream.ts'
import type { NotReadyReason } from '../cluster-client/cluster-client.ts'
import { planFromInputs } from '../proposal/proposal.ts'
import { createFakeClusterClient } from '../testing/fake-cluster-client.ts'
import { collectSecrets } from '../inputs/cluster-inputs.ts'
import { buildClusterInputs } from '../testing/cluster-inputs.ts'
import { runRemoveStep, runApplyStep } from './run-step.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)
const inputs = await buildClusterInputs(cluster)
const { plans } = planFromInputs(inputs, buildPlanInput(cluster).facts, [])
const [cp1, w1] = plans
if (cp1 === undefined || w1 === undefined) throw new Error('there are no plans')
/** The plan of cp1 with the programs of the previous version. */
const previousControlPlane = {
  ...cp1,
  components: cp1.components.map((one) => {
    const version = { etcd: '3.6.16', 'kube-apiserver': '1.36.4' }[one.name]
    return version === undefined ? one : { ...one, version }
  }),
}
const etcdVersion = `etcd ${cp1.components.find(({ name }) => name === 'etcd')?.version}`
const previous = {
  ...w1,
  components: w1.components.map((one) => (one.name === 'kubelet' ? { ...one, version: '1.36.4' } : one)),
}

/** An agent whose first `times` runs fail. */
function fails(times: number): AgentScript {
  let left = times
  return async function* () {
    const failure = { code: 'SERVICE_FAILED', message: 'kubelet.service does not start' }
    yield { type: 'run-ended', result: left-- > 0 ? { outcome: 'failed', failure } : { outcome: 'done' } }
  }
}

async function setup(host: string, scripted: Partial<ScriptedAgent>, done: string[]) {
  const requests: AgentRequest['body'][] = []
  const session = scriptedSession(host, { run: successfulRun, requests, ...scripted })
  const noted = (what: string) => async (name: string) => void done.push(`${what} ${name}`)
  const client = createFakeClusterClient({
    async joinEtcd(name) {
      done.push(`join ${name}`)
      return [{ name, address: '10.0.0.1' }]
    },
    promote: noted('promote'),
    removeEtcdMember: noted('leave etcd'),
    prepareEtcdUpgrade: noted('prepare etcd'),
    releaseEtcdLeadership: noted('release leadership'),
    drain: noted('drain'),
    uncordon: noted('uncordon'),
    removeNode: noted('remove node'),
  })
  const options = {
    claim: { holder: 'me', generation: 1 },
    onRemoved: (name: string) => void done.push(`left ${name}`),
    removedSessions: new Map([[host, session]]),
    client,
    emit: createEventStream('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', () => new Date(), []),
    now: () => new Date(),
    signal: new AbortController().signal,
  }
  const stepInputs = {
    plans: new Map(plans.map((plan) => [plan.host, plan])),
    secrets: collectSecrets(inputs),
    sessions: new Map([[host, session]]),
    certificates: new Map(),
    passGates: async () => void done.push('gates'),
  }
  return { options, stepInputs, requests }
}

const upgrade = buildApplyStep({
  hosts: ['w1'],
  stage: 'network',
  stages: ['node', 'network'],
  drain: true,
  disruptive: true,
})

test('a step with drain drains the node, applies the plan, passes the gates and uncordons', async () => {
  const done: string[] = []
  const { options, stepInputs, requests } = await setup('w1', {}, done)
  await runApplyStep(upgrade, stepInputs, options)
  expect(done).toEqual(['drain w1', 'gates', 'uncordon w1'])
  expect(requests.map(({ type }) => type)).toEqual(['hello', 'apply', 'attach'])
})

test('after a failed apply the previous plan is applied, and ROLLOUT_ROLLED_BACK is reported', async () => {
  const done: string[] = []
  const { options, stepInputs, requests } = await setup(
    'w1',
    {
      run: fails(1),
      respond: (request) =>
        request.type === 'previous-plan' ? { type: 'previous-plan', plan: previous } : undefined,
    },
    done,
  )
  await expect(runApplyStep(upgrade, stepInputs, options)).rejects.toMatchObject({
    code: 'ROLLOUT_ROLLED_BACK',
    message: expect.stringMatching(/kubelet.service does not start.*the rollback of w1 succeeded/),
  })
  const applied = requests.flatMap((request) => (request.type === 'apply' ? [request.plan] : []))
  expect(applied.map(({ components }) => components.find(({ name }) => name === 'kubelet')?.version)).toEqual(
    ['1.37.1', '1.36.4'],
  )
  expect(done).toEqual(['drain w1', 'gates', 'uncordon w1'])
})

test('after a failed rollback ROLLBACK_FAILED is reported, and the node stays cordoned', async () => {
  const done: string[] = []
  const { options, stepInputs } = await setup(
    'w1',
    {
      run: fails(2),
      respond: (request) =>
        request.type === 'previous-plan' ? { type: 'previous-plan', plan: previous } : undefined,
    },
    done,
  )
  await expect(runApplyStep(upgrade, stepInputs, options)).rejects.toMatchObject({ code: 'ROLLBACK_FAILED' })
  expect(done).toEqual(['drain w1'])
})

test('without a previous plan the error of the apply is reported', async () => {
  const { options, stepInputs } = await setup('w1', { run: fails(1) }, [])
  await expect(runApplyStep(upgrade, stepInputs, options)).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
})

test('a new etcd member is added before its apply and promoted afterwards', async () => {
  const done: string[] = []
  const { options, stepInputs, requests } = await setup('cp1', {}, done)
  const joins = buildApplyStep({
    hosts: ['cp1'],
    stage: 'etcd',
    after: [{ kind: 'etcd-member-promoted', host: 'cp1' }],
  })
  await runApplyStep(joins, stepInputs, options)
  expect(done).toEqual(['join cp1', 'promote cp1', 'gates'])
  const texts = requests.flatMap((request) =>
    request.type === 'apply'
      ? request.plan.components.flatMap(({ files }) => files.map(({ content }) => content))
      : [],
  )
  expect(texts).toContainEqual({
    kind: 'text',
    text: expect.stringContaining(
      'ETCD_INITIAL_CLUSTER=cp1=https://10.0.0.1:2380\nETCD_INITIAL_CLUSTER_STATE=existing',
    ),
  })
})

test('before an etcd member restarts it is prepared and releases leadership, and a failure of that is ignored', async () => {
  const done: string[] = []
  const { options, stepInputs, requests } = await setup('cp1', {}, done)
  const restarts = buildApplyStep({ hosts: ['cp1'], stage: 'etcd', disruptive: true })
  await runApplyStep(restarts, stepInputs, options)
  expect(done).toEqual(['prepare etcd cp1', 'release leadership cp1', 'gates'])
  const client = createFakeClusterClient({
    releaseEtcdLeadership: async () => Promise.reject(new Error('etcd is unreachable')),
  })
  await runApplyStep(restarts, stepInputs, { ...options, client })
  expect(requests.filter(({ type }) => type === 'apply')).toHaveLength(2)
})

const restartsBoth = buildApplyStep({
  hosts: ['cp1'],
  stage: 'api',
  stages: ['etcd', 'api'],
  after: [
    { kind: 'etcd-healthy', members: ['cp1'] },
    { kind: 'api-ready', hosts: ['cp1'] },
  ],
  disruptive: true,
})

/** Fails a step that restarts etcd and the API server. Returns the versions of its rollback plan. */
async function rollBackBoth(ops: readonly Op[], etcdHealthy: NotReadyReason): Promise<string[]> {
  const { options, stepInputs, requests } = await setup(
    'cp1',
    {
      run: fails(1),
      ops,
      respond: ({ type }) => (type === 'previous-plan' ? { type, plan: previousControlPlane } : undefined),
    },
    [],
  )
  const client = createFakeClusterClient({ etcdHealthy: async () => etcdHealthy })
  await expect(runApplyStep(restartsBoth, stepInputs, { ...options, client })).rejects.toMatchObject({
    code: 'ROLLOUT_ROLLED_BACK',
  })
  const applied = requests.flatMap((request) => (request.type === 'apply' ? [request] : []))
  expect(applied.map(({ through }) => through)).toEqual(['api', 'api'])
  const components = applied[1]?.plan.components ?? []
  return components
    .filter(({ stage }) => restartsBoth.stages.includes(stage))
    .map(({ name, version }) => `${name} ${version}`)
}

test('if the API server fails and etcd is healthy, only the API server rolls back', async () => {
  const restart: Op = {
    ...{ component: 'kube-apiserver', stage: 'api', action: 'restart', target: 'service' },
    ...{ name: 'kube-apiserver.service', because: [] },
  }
  expect(await rollBackBoth([restart], undefined)).toEqual([etcdVersion, 'kube-apiserver 1.36.4'])
})

test('if etcd fails, etcd and the API server roll back together', async () => {
  const restart: Op = {
    ...{ component: 'etcd', stage: 'etcd', action: 'start', target: 'service' },
    ...{ name: 'etcd.service', because: [] },
  }
  const both = ['etcd 3.6.16', 'kube-apiserver 1.36.4']
  expect(await rollBackBoth([restart], undefined)).toEqual(both)
  expect(await rollBackBoth([], 'cp1 does not answer')).toEqual(both)
})

const removeStep: RemoveStep = {
  id: 'remove/cp1',
  kind: 'remove',
  hosts: ['cp1'],
  host: 'cp1',
  live: { member: true, controlPlane: true, node: true },
  unreachable: false,
  before: [],
  after: [],
  drain: true,
  disruptive: true,
}

test('removal of a control plane: drain, stop the API server, leave etcd, reset the host, delete the node', async () => {
  const done: string[] = []
  const { options, requests } = await setup('cp1', {}, done)
  await runRemoveStep(removeStep, options)
  expect(done).toEqual(['drain cp1', 'leave etcd cp1', 'left cp1', 'remove node cp1'])
  expect(requests.map(({ type }) => type)).toEqual(['hello', 'stop-services', 'attach', 'reset', 'attach'])
})

test('removal of an unreachable control plane sends no request to it', async () => {
  const done: string[] = []
  const { options, requests } = await setup('cp1', {}, done)
  await runRemoveStep({ ...removeStep, unreachable: true }, { ...options, removedSessions: new Map() })
  expect(done).toEqual(['drain cp1', 'leave etcd cp1', 'left cp1', 'remove node cp1'])
  expect(requests).toEqual([])
})
