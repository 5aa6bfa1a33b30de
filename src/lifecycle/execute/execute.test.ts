import { expect, test } from 'vitest'
import { diffNewAddon } from '../../addons/diff-addon.ts'
import type { Event } from '../../contract/event.ts'
import type { AgentRequest } from '../../contract/request.ts'
import { buildTestCluster, buildPlanInput } from '../../plan/testing/fixtures.ts'
import { describeStep } from '../../rollout/describe.ts'
import { buildApplyStep } from '../../rollout/step.ts'
import { execute } from './execute.ts'
import type { NotReadyReason } from '../cluster-client/cluster-client.ts'
import { type AgentScript, scriptedSession } from '../testing/scripted-agent.ts'
import { createEventStream } from '../agents/event-stream.ts'
import { createFakeClusterClient } from '../testing/fake-cluster-client.ts'
import { buildClusterInputs } from '../testing/cluster-inputs.ts'
import { emptyProposal, planFromInputs, type Proposal } from '../proposal/proposal.ts'
import { collectSecrets } from '../inputs/cluster-inputs.ts'
import type { SmokeTestPods } from '../smoke-test/smoke-test-pods.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)
const inputs = await buildClusterInputs(cluster)
const { plans } = planFromInputs(inputs, buildPlanInput(cluster).facts, [])
const noPods = { create: async () => undefined, list: async () => new Map(), remove: async () => undefined }
const prepare = buildApplyStep({ hosts: ['cp1', 'w1'], stage: 'prepare' })
const etcd = buildApplyStep({
  hosts: ['cp1'],
  stage: 'etcd',
  after: [{ kind: 'etcd-healthy', members: ['cp1'] }],
})

const op = {
  component: 'etcd',
  stage: 'etcd',
  action: 'start',
  target: 'service',
  name: 'etcd',
  because: [],
} as const
const successful: AgentScript = async function* () {
  yield { type: 'op-ended', op: { ...op, because: [] }, result: { outcome: 'done' } }
  yield { type: 'run-ended', result: { outcome: 'done' } }
}

interface RunSetup {
  readonly script?: AgentScript
  readonly clusterChanges?: Proposal['clusterChanges']
  readonly pods?: SmokeTestPods
  readonly etcdHealthy?: () => Promise<NotReadyReason>
  readonly signal?: AbortSignal
}

/** Executes two steps. Returns the events, the requests and the error. */
async function run({
  script = successful,
  clusterChanges = [],
  pods = noPods,
  etcdHealthy = async () => undefined,
  signal,
}: RunSetup) {
  const events: Event[] = []
  const requests: AgentRequest['body'][] = []
  const sessions = new Map(plans.map(({ host }) => [host, scriptedSession(host, { run: script, requests })]))
  const error: unknown = await execute(
    inputs,
    { ...emptyProposal, plans, steps: [prepare, etcd], clusterChanges },
    sessions,
    {
      claim: { holder: 'me', generation: 1 },
      client: createFakeClusterClient({ etcdHealthy, smokeTestPods: pods }),
      onRemoved: () => undefined,
      removedSessions: new Map(),
      emit: createEventStream('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', () => new Date(), [
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
  return { error, requests, events, emitted: events.map(summarize) }
}

function summarize({ body, host }: Event): string {
  const outcome = 'result' in body ? ` ${body.result.outcome}` : ''
  const stepText = 'step' in body ? ` ${body.step}` : ''
  return `${body.type}${stepText}${outcome}${host === undefined ? '' : ` @${host}`}`
}

test('every step is planned and reported as a whole and for each host', async () => {
  const { error, emitted, events } = await run({})
  expect(error).toBeUndefined()
  const planned = events.flatMap(({ body }) => (body.type === 'steps-planned' ? [body.steps] : []))
  expect(planned.at(-1)?.map(({ title }) => title)).toEqual([
    'certificates for cp1 and w1',
    ...[prepare, etcd].map(describeStep),
    'RBAC rules of hyperkube',
    'labels and taints of nodes',
  ])
  const [whole, single] = [
    emitted.filter((line) => !line.includes('@')),
    emitted.filter((line) => line.includes('@')),
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

test('after an interrupt hosts finish their current step and no other step begins', async () => {
  const interrupt = new AbortController()
  const { error, emitted, requests } = await run({
    signal: interrupt.signal,
    async *script() {
      interrupt.abort()
      yield { type: 'op-ended', op: { ...op, because: [] }, result: { outcome: 'done' } }
      yield { type: 'run-ended', result: { outcome: 'done' } }
    },
  })
  expect(error).toBe(interrupt.signal.reason)
  expect(emitted.slice(-3).toSorted()).toEqual([
    'step-ended prepare/cp1+1 done',
    'step-ended prepare/cp1+1 done @cp1',
    'step-ended prepare/cp1+1 done @w1',
  ])
  expect(requests.filter(({ type }) => type === 'apply')).toHaveLength(2)
})

test('an interrupted host is retried, but not without limit', async () => {
  let cuts = 2
  const script: AgentScript = async function* (host, through) {
    if (host === 'cp1' && cuts-- > 0) yield { type: 'run-ended', result: { outcome: 'interrupted' } }
    else yield* successful(host, through)
  }
  const { error, emitted } = await run({ script })
  expect(error).toBeUndefined()
  expect(emitted).toContain('step-ended prepare/cp1+1 done @cp1')
  cuts = 3
  expect((await run({ script })).error).toMatchObject({ code: 'AGENT_INTERRUPTED', host: 'cp1' })
})

test('an interrupted smoke test is repeated and its pod removed', async () => {
  const there = new Set(['w1'])
  const pods: SmokeTestPods = {
    create: async (node) => void there.add(node),
    list: async () => new Map([...there].map((node) => [node, { ready: true, addresses: ['10.244.0.2'] }])),
    remove: async () => there.clear(),
  }
  const { error, emitted } = await run({ clusterChanges: [{ kind: 'smoke-test', host: 'w1' }], pods })
  expect(error).toBeUndefined()
  expect(emitted.at(-1)).toBe('step-ended verify done')
  expect([...there]).toEqual([])
})

test('an interrupt ends the wait for a gate at once', async () => {
  const interrupt = new AbortController()
  const { error, emitted } = await run({
    signal: interrupt.signal,
    async etcdHealthy() {
      interrupt.abort()
      return 'cp1: connection refused'
    },
  })
  expect(error).toBe(interrupt.signal.reason)
  expect(emitted.at(-1)).toBe('step-ended etcd/cp1 interrupted')
})

test('a failed host is reported by name and the others finish', async () => {
  const failure = { code: 'APPLY_DISK_FULL', message: 'no room is left', hint: 'df -h' }
  const { error, emitted, events } = await run({
    async *script(host, through) {
      if (host === 'cp1') yield { type: 'run-ended', result: { outcome: 'failed', failure } }
      else yield* successful(host, through)
    },
  })
  expect(error).toMatchObject({ code: 'APPLY_DISK_FULL', host: 'cp1' })
  expect(emitted).toContain('step-ended prepare/cp1+1 failed @cp1')
  expect(emitted).toContain('step-ended prepare/cp1+1 done @w1')
  expect(emitted.at(-1)).toBe('step-ended prepare/cp1+1 failed')
  const last = events.at(-1)?.body
  expect(last).toMatchObject({ result: { failure: { code: 'APPLY_DISK_FULL', hint: 'df -h' } } })
})

test('hosts get secrets, and no event contains any of them', async () => {
  const { requests, events } = await run({})
  const secrets = [...collectSecrets(inputs).values()].map((secret) => Buffer.from(secret.reveal()))
  const sent = JSON.stringify(requests)
  expect(secrets.some((secret) => sent.includes(secret.toString('base64')))).toBe(true)
  const emitted = events.map((event) => JSON.stringify(event)).join('\n')
  expect(emitted).not.toMatch(/PRIVATE KEY|BEGIN /)
  for (const secret of secrets) {
    expect(emitted).not.toContain(secret.toString('base64'))
    expect(emitted).not.toContain(secret.toString('hex'))
    // Checks each line, because a message or a log may contain only a part of a secret.
    for (const line of secret
      .toString('utf8')
      .split('\n')
      .filter((text) => text.length >= 16)) {
      expect(emitted).not.toContain(line)
    }
  }
})

test('with a network addon its objects come before nodes, and nodes must be ready before other addons', async () => {
  const network = { ...cluster.spec.network, plugin: 'none' as const, addon: 'calico' }
  const ownNetwork = { ...cluster, spec: { ...cluster.spec, network } }
  const own = await buildClusterInputs(ownNetwork)
  const ownPlans = planFromInputs(own, buildPlanInput(ownNetwork).facts, []).plans
  const [calico, dns] = ['calico', 'coredns'].map((name) => ({
    name,
    manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'kube-system' } }],
    wait: true,
    timeoutMs: 1000,
    description: '',
  }))
  const desired = [dns, calico].flatMap((one) => one ?? [])
  const addons = { desired, differences: desired.map(diffNewAddon), findings: [] }
  const steps = [buildApplyStep({ hosts: ['cp1', 'w1'], stage: 'network' })]
  const calls: string[] = []
  const sessions = new Map(
    ownPlans.map(({ host }) => [host, scriptedSession(host, { run: successful, requests: [] })]),
  )
  const client = createFakeClusterClient({
    applyObjects: async () => void calls.push('objects'),
    async applyAddon({ name, wait }) {
      calls.push(`${name} ${wait}`)
      return { removed: [], findings: [] }
    },
    syncNodeLabels: async () => void calls.push('labels'),
    async nodesReady(hosts) {
      calls.push(`ready ${hosts.join(' ')}`)
      return undefined
    },
    smokeTestPods: { ...noPods, list: async () => Promise.reject(new Error('smoke test')) },
  })
  const interrupt = new AbortController()
  await execute(own, { ...emptyProposal, plans: ownPlans, steps, addons }, sessions, {
    claim: { holder: 'me', generation: 1 },
    client,
    onRemoved: () => undefined,
    removedSessions: new Map(),
    emit: ({ type, ...body }) => {
      if (type !== 'waiting') return
      calls.push('for' in body ? body.for : '')
      interrupt.abort()
    },
    now: () => new Date(),
    signal: interrupt.signal,
  }).catch(() => undefined)
  await Promise.all([...sessions.values()].map(async (session) => session.close()))
  expect(calls).toEqual([
    'objects',
    'calico false',
    'labels',
    'ready cp1 w1',
    'calico true',
    'coredns true',
    'a pod on every node: smoke test',
  ])
})
