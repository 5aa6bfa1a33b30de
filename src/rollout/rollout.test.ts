import { expect, test } from 'vitest'
import { describeGate } from './describe.ts'
import type { Op } from '../contract/op.ts'
import type { Predecessor } from '../contract/predecessor.ts'
import {
  buildChanges,
  changeEverywhere,
  buildHostPlan,
  buildRolloutInput,
  toLiveHosts,
  buildFixtureOp,
  buildPlans,
} from './testing/fixtures.ts'
import { planRollout } from './rollout.ts'
import type { RolloutStep } from './step.ts'

function text({ id, drain, disruptive }: RolloutStep): string {
  return [id, ...(drain ? ['drained'] : []), ...(disruptive ? ['disruptive'] : [])].join(' ')
}

function gated({ id, before, after }: RolloutStep): string[] {
  return [...before.map(describeGate), `= ${id}`, ...after.map(describeGate)]
}

const plans = buildPlans(3)
const live = toLiveHosts(plans)

test('at bootstrap all hosts change concurrently, in one step each for downloads, the API and the nodes', () => {
  const { steps, findings, skipped } = planRollout(
    buildRolloutInput({ plans, ops: changeEverywhere(plans, false) }),
  )
  expect(steps.flatMap(gated)).toEqual([
    '= prepare/cp1+5',
    '= api/cp1+2',
    'etcd is healthy on cp1, cp2 and cp3',
    'the API servers of cp1, cp2 and cp3 are ready',
    '= network/cp1+5',
    'the controllers of cp1 are ready',
    'the controllers of cp2 are ready',
    'the controllers of cp3 are ready',
    'the network of cp1, cp2 and 4 more is up',
    'nodes cp1, cp2 and 4 more are ready',
  ])
  expect({ findings, skipped }).toEqual({ findings: [], skipped: [] })
})

test('in a running cluster control planes are changed one by one, the etcd leader last', () => {
  const { steps } = planRollout(
    buildRolloutInput({ plans, live, ops: changeEverywhere(plans, true), etcdLeader: 'cp1' }),
  )
  expect(steps.map(text)).toEqual([
    'prepare/cp1+5',
    // etcd and API server in one step; the leader of etcd comes last.
    'api/cp2 disruptive',
    'api/cp3 disruptive',
    'api/cp1 disruptive',
    'controllers/cp1 disruptive',
    'controllers/cp2 disruptive',
    'controllers/cp3 disruptive',
    'network/cp1 disruptive',
    'network/cp2 disruptive',
    'network/cp3 disruptive',
    'network/w1 disruptive',
    'network/w2 disruptive',
    'network/w3 disruptive',
  ])
})

test('each step of a running control plane has gates for etcd, the API, the controllers and the node', () => {
  const ops = new Map([['cp1', buildChanges(true, 'etcd', 'api', 'controllers', 'node', 'network')]])
  expect(planRollout(buildRolloutInput({ plans, live, ops })).steps.flatMap(gated)).toEqual([
    '2 of 3 etcd members are healthy without cp1',
    'the API servers of cp2 and cp3 are ready',
    '= api/cp1',
    'etcd is healthy on cp1, cp2 and cp3',
    'the API server of cp1 is ready',
    '= controllers/cp1',
    'the controllers of cp1 are ready',
    '= network/cp1',
    'the network of cp1 is up',
    'node cp1 is ready',
  ])
})

test('etcd and the API server restart in separate steps unless both restart on the same host', () => {
  const ops = new Map([
    ['cp1', buildChanges(true, 'etcd')],
    ['cp2', [...buildChanges(false, 'etcd'), ...buildChanges(true, 'api')]],
    ['cp3', buildChanges(true, 'etcd', 'api')],
  ])
  const { steps } = planRollout(buildRolloutInput({ plans, live, ops }))
  expect(steps.map((step) => [text(step), step.kind === 'apply' ? step.stages : []])).toEqual([
    ['etcd/cp1 disruptive', ['etcd']],
    ['etcd/cp2', ['etcd']],
    ['api/cp3 disruptive', ['etcd', 'api']],
    ['api/cp2 disruptive', ['api']],
  ])
})

test('only hosts with ops have steps, and only in the stages of their ops', () => {
  const ops = new Map([
    ['cp2', buildChanges(true, 'controllers')],
    ['w3', buildChanges(true, 'node')],
    ['w1', []],
  ])
  expect(planRollout(buildRolloutInput({ plans, live, ops })).steps.map(text)).toEqual([
    'controllers/cp2 disruptive',
    'node/w3 disruptive',
  ])
})

test('without ops there are no steps', () => {
  expect(planRollout(buildRolloutInput({ plans, live, ops: new Map() })).steps).toEqual([])
})

test('restarting workers change in groups of maxUnavailable, other workers in one step', () => {
  const many = buildPlans(25)
  const ops = new Map(
    many.slice(3).map(({ host }, index) => [host, buildChanges(index >= 20, 'node', 'network')] as const),
  )
  const { steps } = planRollout(
    buildRolloutInput({ plans: many, live: toLiveHosts(many), ops, maxUnavailable: 2 }),
  )
  expect(steps.map(({ hosts, disruptive }) => [hosts.length, disruptive])).toEqual([
    [20, false],
    [2, true],
    [2, true],
    [1, true],
  ])
})

test('only a node whose kubelet changes its minor version is drained', () => {
  const currentKubelets = new Map([
    ['w1', 'v1.37.0'],
    ['w2', 'v1.36.4'],
    ['w3', '1.37.1'],
  ])
  const ops = new Map(['w1', 'w2', 'w3'].map((host) => [host, buildChanges(true, 'node')]))
  const { steps } = planRollout(buildRolloutInput({ plans, live, ops, currentKubelets, maxUnavailable: 3 }))
  expect(steps.map(text)).toEqual(['node/w1+1 disruptive', 'node/w2 drained disruptive'])
})

test('new nodes join in one step, after the API servers and before existing nodes restart', () => {
  const some = { ...live, nodes: ['cp1', 'cp2', 'cp3', 'w1'] }
  const ops = new Map([
    ['cp1', buildChanges(true, 'api')],
    ['w1', buildChanges(true, 'node')],
    ['w2', buildChanges(true, 'prepare', 'node', 'network')],
    ['w3', buildChanges(true, 'prepare', 'node', 'network')],
  ])
  expect(planRollout(buildRolloutInput({ plans, live: some, ops })).steps.map(text)).toEqual([
    'prepare/w2+1',
    'api/cp1 disruptive',
    'network/w2+1',
    'node/w1 disruptive',
  ])
})

test('new etcd members join one at a time, before existing members restart', () => {
  const one = { ...live, etcd: ['cp1'], controlPlanes: ['cp1'] }
  const ops = new Map(['cp1', 'cp2', 'cp3'].map((host) => [host, buildChanges(true, 'etcd', 'api')]))
  const { steps, findings } = planRollout(buildRolloutInput({ plans, live: one, ops }))
  expect(steps.flatMap(gated)).toEqual([
    'etcd is healthy on cp1',
    '= etcd/cp2',
    'cp2 is a voting etcd member',
    'etcd is healthy on cp1 and cp2',
    '= etcd/cp3',
    'cp3 is a voting etcd member',
    '2 of 3 etcd members are healthy without cp1',
    '= etcd/cp1',
    'etcd is healthy on cp1, cp2 and cp3',
    '= api/cp2+1',
    'the API servers of cp2 and cp3 are ready',
    'the API servers of cp2 and cp3 are ready',
    '= api/cp1',
    'the API server of cp1 is ready',
  ])
  expect(findings).toEqual([])
})

test('an installed etcd member that does not vote yet gets a step that waits for its promotion', () => {
  const two = { ...live, etcd: ['cp1', 'cp2'] }
  expect(planRollout(buildRolloutInput({ plans, live: two, ops: new Map() })).steps.flatMap(gated)).toEqual([
    'etcd is healthy on cp1 and cp2',
    '= etcd/cp3',
    'cp3 is a voting etcd member',
  ])
})

test('the restart of a single control plane gives a warning about API downtime', () => {
  const single = [buildHostPlan('cp1', ['control-plane', 'etcd'])]
  const ops = new Map([['cp1', buildChanges(true, 'etcd', 'api')]])
  const { steps, findings } = planRollout(
    buildRolloutInput({ plans: single, live: toLiveHosts(single), ops }),
  )
  expect(steps.flatMap(gated)).toEqual([
    'etcd is healthy on cp1',
    '= api/cp1',
    'etcd is healthy on cp1',
    'the API server of cp1 is ready',
  ])
  expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
    ['ROLLOUT_API_DOWNTIME', 'warning'],
  ])
})

test('a worker with leftover etcd and API server services stops them in one leftovers step', () => {
  const mixed = [...plans, buildHostPlan('e1', ['worker'])]
  const ops = new Map([['e1', [buildFixtureOp('etcd', 'stop'), buildFixtureOp('api', 'stop')]]])
  expect(
    planRollout(buildRolloutInput({ plans: mixed, live: toLiveHosts(mixed), ops })).steps.map(text),
  ).toEqual(['api/leftovers'])
})

test('without the built-in network plugin no bootstrap gate waits for the network or for ready nodes', () => {
  const bare = buildPlans(1).map((plan) => ({
    ...plan,
    components: plan.components.map((one) =>
      one.name === 'flanneld' ? { ...one, name: 'kube-proxy' } : one,
    ),
  }))
  const { steps } = planRollout(buildRolloutInput({ plans: bare, ops: changeEverywhere(bare, false) }))
  const gates = new Set(steps.at(-1)?.after.map(({ kind }) => kind))
  expect(gates).toEqual(new Set(['controllers-ready']))
})

test('a node is drained while its pods move from Docker to containerd, also if the move was interrupted', () => {
  const replaces: Predecessor = { kind: 'docker', containers: ['kubelet'], kept: true }
  const workers = buildPlans(4)
  const adopted = workers.map((plan) => ({
    ...plan,
    components: plan.components.map((one) => (one.name === 'kubelet' ? { ...one, replaces } : one)),
  }))
  const build = (action: Op['action'], target: Op['target']): Op => ({
    ...buildFixtureOp('node', action),
    component: 'containerd',
    target,
  })
  const ops = new Map([
    ['w1', [build('create', 'predecessor')]],
    ['w2', buildChanges(true, 'node')],
    ['w3', [build('change', 'predecessor'), build('start', 'service')]],
    ['w4', [build('change', 'predecessor'), { ...build('restart', 'service'), because: ['node-thing'] }]],
    // This is a commit: containerd runs already.
    ['cp1', [build('change', 'predecessor')]],
  ])
  const { steps } = planRollout(
    buildRolloutInput({ plans: adopted, live: toLiveHosts(workers), ops, maxUnavailable: 3 }),
  )
  expect(steps.map(text)).toEqual(['node/cp1', 'node/w2 disruptive', 'node/w1+2 drained disruptive'])
})

test.each(['create', 'change'] as const)('hosts of an adopted cluster move one by one: %s', (action) => {
  const ops = new Map(
    plans.map(({ host, components }) => [
      host,
      components.flatMap(({ stage }) => [
        { ...buildFixtureOp(stage, action), target: stage === 'prepare' ? 'file' : 'predecessor' } as const,
        ...(stage === 'prepare' ? [] : [buildFixtureOp(stage, 'start')]),
      ]),
    ]),
  )
  const { steps } = planRollout(buildRolloutInput({ plans, live, ops, maxUnavailable: 1 }))
  expect(steps.map(text)).toEqual([
    'prepare/cp1+5',
    'api/cp1 disruptive',
    'api/cp2 disruptive',
    'api/cp3 disruptive',
    'controllers/cp1 disruptive',
    'controllers/cp2 disruptive',
    'controllers/cp3 disruptive',
    'network/cp1 disruptive',
    'network/cp2 disruptive',
    'network/cp3 disruptive',
    'network/w1 disruptive',
    'network/w2 disruptive',
    'network/w3 disruptive',
  ])
})
