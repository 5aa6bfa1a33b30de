import { expect, test } from 'vitest'
import type { EtcdRestore } from '../../contract/etcd-restore.ts'
import type { Op } from '../../contract/op.ts'
import { planDocument } from '../../lifecycle/plan-document.ts'
import { nothing, planFrom } from '../../lifecycle/build-proposal.ts'
import { planInput } from '../../plan/testing/fixtures.ts'
import { cluster, op, three, upTest } from './testing/up-harness.ts'

const { wish, run } = await upTest()

test('what was shown is done once it is agreed to, under a claim that is given back', async () => {
  const { verdict, begun, said, types } = await run({ world: { answers: [true] } })
  expect(verdict).toEqual({ code: 0, result: { outcome: 'done' } })
  expect(begun).toBe(true)
  expect(said).toContain('1. preparation on cp1, w1 and w2')
  expect(types.filter((type) => type === 'apply')).toHaveLength(3)
  expect(types.indexOf('claim')).toBeLessThan(types.indexOf('apply'))
  expect(types.at(-1)).toBe('release')
})

test('without a yes nothing is done, and nobody is asked for a claim', async () => {
  for (const world of [{ answers: [false] }, {}]) {
    const { verdict, begun, types } = await run({ world })
    expect(verdict).toMatchObject({ result: { outcome: 'unchanged' } })
    expect({ begun, claims: types.filter((type) => type === 'claim') }).toEqual({ begun: false, claims: [] })
  }
})

test('while a restore of etcd has not ended, nothing is looked at and nothing is done', async () => {
  const restore: EtcdRestore = {
    id: '11111111-1111-4111-8111-111111111111',
    snapshot: 'a'.repeat(64),
    members: ['cp1=https://10.0.0.1:2380'],
    state: 'placed',
  }
  const { verdict, findings, types } = await run({ restores: new Map([['cp1', restore]]), yes: true })
  expect(findings).toEqual(['error ETCD_RESTORE_UNFINISHED'])
  expect(verdict).toMatchObject({ code: 1 })
  expect(types).toEqual([])
})

test('a dry run shows it, asks nobody, and says by its code whether there is something to do', async () => {
  const { verdict, begun, said } = await run({ dryRun: true, yes: true })
  expect(verdict).toEqual({ code: 3, result: { outcome: 'unchanged' } })
  expect({ begun, shown: said.includes('1. preparation on') }).toEqual({ begun: false, shown: true })
  expect(await run({ dryRun: true, ops: [] })).toMatchObject({ verdict: { code: 0 } })
})

test('workers that do not answer are told of, left behind, and make another exit code', async () => {
  const { verdict, findings } = await run({ missing: ['w2'], yes: true })
  expect(findings).toEqual(['warning SSH_UNREACHABLE', 'warning ROLLOUT_WORKER_SKIPPED'])
  expect(verdict).toEqual({ code: 3, result: { outcome: 'done' } })
  expect(await run({ missing: ['w2'], ops: [] })).toMatchObject({
    verdict: { code: 3, result: { outcome: 'unchanged' } },
  })
})

test('one control plane of three is left behind as a worker is, and two are too many', async () => {
  const voters = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
  const away = { of: three, voters, yes: true } as const
  const { verdict, findings, types } = await run({ ...away, missing: ['cp3'] })
  expect(findings).toEqual(['warning SSH_UNREACHABLE', 'warning ROLLOUT_CONTROL_PLANE_UNREACHABLE'])
  expect(verdict).toEqual({ code: 3, result: { outcome: 'done' } })
  expect(types.filter((type) => type === 'apply')).toHaveLength(2)
  const lost = await run({ ...away, missing: ['cp2', 'cp3'] })
  expect(lost.findings).toContain('error PLAN_NO_QUORUM')
  expect(lost).toMatchObject({ verdict: { code: 1 } })
  expect(lost.types).not.toContain('claim')
})

test('nothing restarts etcd while a member of three is away', async () => {
  const restart: Op = {
    ...op,
    component: 'etcd',
    stage: 'etcd',
    action: 'restart',
    target: 'service',
    name: 'etcd.service',
  }
  const voters = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
  const { verdict, findings, types } = await run({
    of: three,
    voters,
    missing: ['cp3'],
    ops: [restart],
    yes: true,
  })
  expect(findings).toContain('error ROLLOUT_QUORUM')
  expect(verdict).toMatchObject({ code: 1 })
  expect(types).not.toContain('claim')
})

test('a cluster is founded with all of its control planes', async () => {
  const service: Op = {
    ...op,
    component: 'etcd',
    stage: 'etcd',
    target: 'service',
    name: 'etcd.service',
  }
  const services = ['kube-apiserver.service', 'kubelet.service'].map((name) => ({ ...service, name }))
  const { verdict, findings } = await run({
    of: three,
    voters: [],
    missing: ['cp3'],
    ops: [service, ...services],
  })
  expect(findings).toEqual(['warning SSH_UNREACHABLE', 'error ROLLOUT_QUORUM'])
  expect(verdict).toMatchObject({
    code: 1,
    result: { failure: { hint: 'bring it back, or take cp3 out of cluster.yml; then: hyperkube up' } },
  })
})

test('a plan that was handed over is done without a question, and nothing beyond it', async () => {
  const { plans } = planFrom(wish, planInput(cluster).facts, [])
  const names = plans.map(({ host }) => host)
  const proposal = {
    ...nothing,
    plans,
    ops: new Map(names.map((name) => [name, [op]])),
  }
  const plan = { file: 'shop.plan', document: planDocument(proposal, new Set(names)) }
  expect(await run({ plan })).toMatchObject({ verdict: { code: 0, result: { outcome: 'done' } } })
  const { verdict, types } = await run({ plan, ops: [op, { ...op, name: '/etc/hyperkube/other' }] })
  expect(verdict).toMatchObject({
    error: { code: 'PLAN_OUTDATED', message: expect.stringContaining('other') },
  })
  expect(types).not.toContain('claim')
})

test('where nothing is to be done nobody is asked', async () => {
  const { verdict, said } = await run({ ops: [] })
  expect(verdict).toEqual({ code: 0, result: { outcome: 'unchanged' } })
  expect(said).toContain('nothing to do')
})

test('what keeps it from being done is a finding, and nothing is done', async () => {
  const { verdict, findings, types } = await run({ missing: ['cp1'], yes: true })
  expect(findings).toEqual(['error SSH_UNREACHABLE', 'error PLAN_NO_QUORUM'])
  expect(verdict).toMatchObject({ code: 1, result: { outcome: 'failed' } })
  expect(types).not.toContain('apply')
  expect(await run({ missing: ['cp1'], ignore: ['SSH_UNREACHABLE'] })).toMatchObject({ verdict: { code: 1 } })
})

test('while a host shows another key, nothing is done to any, nor asked of them', async () => {
  const impostor = { missing: ['w2'], code: 'SSH_HOST_KEY_CHANGED', yes: true } as const
  const { verdict, findings, types } = await run(impostor)
  expect(findings).toEqual(['error SSH_HOST_KEY_CHANGED'])
  expect(verdict).toMatchObject({ code: 1, result: { outcome: 'failed' } })
  expect(types).toEqual([])
  const without = await run({ ...impostor, ignore: ['SSH_HOST_KEY_CHANGED'] })
  expect(without).toMatchObject({ verdict: { code: 3 }, findings: ['warning ROLLOUT_WORKER_SKIPPED'] })
})

test('after an interruption the claim is given back, once hosts have finished', async () => {
  const person = new AbortController()
  const { verdict, types } = await run({
    yes: true,
    world: { signal: person.signal },
    ops: [op, { ...op, component: 'kubelet', stage: 'node', action: 'change' }],
    async *script() {
      person.abort()
      yield { type: 'run-ended', result: { outcome: 'done' } }
    },
  })
  expect(verdict).toEqual({ error: person.signal.reason })
  expect(types.filter((type) => type === 'attach')).toHaveLength(3)
  expect(types.at(-1)).toBe('release')
})

test('an interruption that comes when all is done already changes nothing', async () => {
  const person = new AbortController()
  const { verdict } = await run({
    yes: true,
    world: { signal: person.signal },
    settleNodes: async () => person.abort(),
  })
  expect(verdict).toEqual({ code: 0, result: { outcome: 'done' } })
})
