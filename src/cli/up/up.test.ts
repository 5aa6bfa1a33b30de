import { expect, test } from 'vitest'
import type { EtcdRestoreProgress } from '../../contract/etcd-restore.ts'
import type { Op } from '../../contract/op.ts'
import { emptyProposal, planFromInputs } from '../../lifecycle/proposal/proposal.ts'
import { buildPlanDocument } from '../../lifecycle/proposal/plan-approval.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import { createUpHarness, sampleOp, threeControlPlanes, upTestCluster } from './testing/up-harness.ts'

const { inputs, run } = await createUpHarness()

test('confirmed changes are applied under the operator lock, which is released at the end', async () => {
  const { result, started, output, types } = await run({ environment: { replies: [true] } })
  expect(result).toEqual({ code: 0, result: { outcome: 'done' } })
  expect(started).toBe(true)
  expect(output).toContain('1. preparation on cp1, w1 and w2')
  expect(types.filter((type) => type === 'apply')).toHaveLength(3)
  expect(types.indexOf('claim')).toBeLessThan(types.indexOf('apply'))
  expect(types.at(-1)).toBe('release')
})

test('without a confirmation nothing is applied and no operator lock is taken', async () => {
  for (const environment of [{ replies: [false] }, {}]) {
    const { result, started, types } = await run({ environment })
    expect(result).toMatchObject({ result: { outcome: 'unchanged' } })
    expect({ begun: started, claims: types.filter((type) => type === 'claim') }).toEqual({
      begun: false,
      claims: [],
    })
  }
})

test('while an etcd restore is unfinished, no host gets a request', async () => {
  const restore: EtcdRestoreProgress = {
    id: '11111111-1111-4111-8111-111111111111',
    snapshot: 'a'.repeat(64),
    members: ['cp1=https://10.0.0.1:2380'],
    state: 'data-restored',
  }
  const { result, findings, types } = await run({ restores: new Map([['cp1', restore]]), yes: true })
  expect(findings).toEqual(['error ETCD_RESTORE_UNFINISHED'])
  expect(result).toMatchObject({ code: 1 })
  expect(types).toEqual([])
})

test('a dry run shows the changes without a prompt and exits with 3 if there are any', async () => {
  const { result, started, output } = await run({ dryRun: true, yes: true })
  expect(result).toEqual({ code: 3, result: { outcome: 'unchanged' } })
  expect({ begun: started, shown: output.includes('1. preparation on') }).toEqual({
    begun: false,
    shown: true,
  })
  expect(await run({ dryRun: true, ops: [] })).toMatchObject({ result: { code: 0 } })
})

test('unreachable workers are reported and skipped, and the exit code is 3', async () => {
  const { result, findings } = await run({ unreachable: ['w2'], yes: true })
  expect(findings).toEqual(['warning SSH_UNREACHABLE', 'warning ROLLOUT_WORKER_SKIPPED'])
  expect(result).toEqual({ code: 3, result: { outcome: 'done' } })
  expect(await run({ unreachable: ['w2'], ops: [] })).toMatchObject({
    result: { code: 3, result: { outcome: 'unchanged' } },
  })
})

test('a host that reports another address than in its last plan is an error unless ignored', async () => {
  const target = buildTestCluster(
    '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
    '{ name: w1, address: w1.example.com, interface: eth0, roles: [worker] }',
  )
  const [apiVersion, kind] = ['hyperkube.dev/v1', 'Host']
  const buildHost = (ip: string) => ({
    apiVersion,
    kind,
    metadata: { name: 'w1' },
    spec: { names: { dns: ['w1'], ip: [ip] } },
  })
  const objects = [
    { kind: 'object', manifest: buildHost('192.0.2.1'), previous: buildHost('192.0.2.7') },
  ] as const
  const { result, findings, types } = await run({ target, objects, yes: true })
  expect(result).toMatchObject({ code: 1 })
  expect(findings).toEqual(['error HOST_ADDRESS_CHANGED'])
  expect(types).not.toContain('apply')
  const ignored = await run({ target, objects, yes: true, ignore: ['HOST_ADDRESS_CHANGED'] })
  expect(ignored.types).toContain('apply')
})

test('an identity that lacks the encryption key of a host is refused unless ignored', async () => {
  const name = '/etc/hyperkube/kube-apiserver/encryption.yaml'
  const ops: Op[] = [{ ...sampleOp, component: 'kube-apiserver', stage: 'api', action: 'change', name }]
  const { requests } = await run({ dryRun: true })
  const planned = requests.flatMap((request) => (request.type === 'diff' ? [request.plan] : []))
  const withOtherKey = planned.map((plan) => ({
    ...plan,
    components: plan.components.map((component) => ({
      ...component,
      files: component.files.map((file) =>
        file.path === name && file.content.kind === 'secret'
          ? { ...file, content: { ...file.content, tag: 'of a newer key' } }
          : file,
      ),
    })),
  }))
  const setup: Parameters<typeof run>[0] = {
    ops,
    yes: true,
    respond: ({ type }, host) =>
      type === 'previous-plan' ? { type, plan: withOtherKey.find((plan) => plan.host === host) } : undefined,
  }
  const { result, findings, types } = await run(setup)
  expect(findings).toEqual(['error IDENTITY_OUTDATED'])
  expect(result).toMatchObject({ code: 1 })
  expect(types).not.toContain('apply')
  expect((await run({ ...setup, ignore: ['IDENTITY_OUTDATED'] })).types).toContain('apply')
})

test('one unreachable control plane of three is skipped; two are refused', async () => {
  const voters = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
  const setup = { target: threeControlPlanes, voters, yes: true } as const
  const { result, findings, types } = await run({ ...setup, unreachable: ['cp3'] })
  expect(findings).toEqual(['warning SSH_UNREACHABLE', 'warning ROLLOUT_CONTROL_PLANE_UNREACHABLE'])
  expect(result).toEqual({ code: 3, result: { outcome: 'done' } })
  expect(types.filter((type) => type === 'apply')).toHaveLength(2)
  const withoutQuorum = await run({ ...setup, unreachable: ['cp2', 'cp3'] })
  expect(withoutQuorum.findings).toContain('error PLAN_NO_QUORUM')
  expect(withoutQuorum).toMatchObject({ result: { code: 1 } })
  expect(withoutQuorum.types).not.toContain('claim')
})

test('a restart of etcd is refused while one member of three is unreachable', async () => {
  const restart: Op = {
    ...sampleOp,
    component: 'etcd',
    stage: 'etcd',
    action: 'restart',
    target: 'service',
    name: 'etcd.service',
  }
  const voters = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
  const lostQuorum = {
    target: threeControlPlanes,
    voters,
    unreachable: ['cp3'],
    ops: [restart],
    yes: true,
  } as const
  const { result, findings, types } = await run(lostQuorum)
  expect(findings).toContain('error ROLLOUT_QUORUM')
  expect(result).toMatchObject({ code: 1 })
  expect(types).not.toContain('claim')
  // `ignore` has no effect on errors of the rollout.
  expect(await run({ ...lostQuorum, ignore: ['ROLLOUT_QUORUM'] })).toMatchObject({ result: { code: 1 } })
})

test('the bootstrap is refused while a control plane is unreachable', async () => {
  const service: Op = {
    ...sampleOp,
    component: 'etcd',
    stage: 'etcd',
    target: 'service',
    name: 'etcd.service',
  }
  const services = ['kube-apiserver.service', 'kubelet.service'].map((name) => ({ ...service, name }))
  const { result, findings } = await run({
    target: threeControlPlanes,
    voters: [],
    unreachable: ['cp3'],
    ops: [service, ...services],
  })
  expect(findings).toEqual(['warning SSH_UNREACHABLE', 'error ROLLOUT_QUORUM'])
  expect(result).toMatchObject({
    code: 1,
    result: { failure: { hint: 'make cp3 reachable, or remove it from cluster.yml; then: hyperkube up' } },
  })
})

test('a plan file is applied without a prompt, and changes beyond it are refused', async () => {
  const { plans } = planFromInputs(inputs, buildPlanInput(upTestCluster).facts, [])
  const names = plans.map(({ host }) => host)
  const proposal = {
    ...emptyProposal,
    plans,
    ops: new Map(names.map((name) => [name, [sampleOp]])),
  }
  const plan = { file: 'shop.plan', document: buildPlanDocument(proposal, new Set(names)) }
  expect(await run({ plan })).toMatchObject({ result: { code: 0, result: { outcome: 'done' } } })
  const { result, types } = await run({
    plan,
    ops: [sampleOp, { ...sampleOp, name: '/etc/hyperkube/other' }],
  })
  expect(result).toMatchObject({
    error: { code: 'PLAN_OUTDATED', message: expect.stringContaining('other') },
  })
  expect(types).not.toContain('claim')
})

test('without changes there is no prompt', async () => {
  const { result, output } = await run({ ops: [] })
  expect(result).toEqual({ code: 0, result: { outcome: 'unchanged' } })
  expect(output).toContain('nothing to do')
})

test('an unreachable only control plane is an error, and nothing is applied', async () => {
  const { result, findings, types } = await run({ unreachable: ['cp1'], yes: true })
  expect(findings).toEqual(['error SSH_UNREACHABLE', 'error PLAN_NO_QUORUM'])
  expect(result).toMatchObject({ code: 1, result: { outcome: 'failed' } })
  expect(types).not.toContain('apply')
  expect(await run({ unreachable: ['cp1'], ignore: ['SSH_UNREACHABLE'] })).toMatchObject({
    result: { code: 1 },
  })
})

test('a changed ssh host key prevents all requests unless ignored', async () => {
  const changedKey = { unreachable: ['w2'], code: 'SSH_HOST_KEY_CHANGED', yes: true } as const
  const { result, findings, types } = await run(changedKey)
  expect(findings).toEqual(['error SSH_HOST_KEY_CHANGED'])
  expect(result).toMatchObject({ code: 1, result: { outcome: 'failed' } })
  expect(types).toEqual([])
  const ignored = await run({ ...changedKey, ignore: ['SSH_HOST_KEY_CHANGED'] })
  expect(ignored).toMatchObject({ result: { code: 3 }, findings: ['warning ROLLOUT_WORKER_SKIPPED'] })
})

test('after an interrupt the operator lock is released once hosts have finished', async () => {
  const interrupt = new AbortController()
  const { result, types } = await run({
    yes: true,
    environment: { signal: interrupt.signal },
    ops: [sampleOp, { ...sampleOp, component: 'kubelet', stage: 'node', action: 'change' }],
    async *script() {
      interrupt.abort()
      yield { type: 'run-ended', result: { outcome: 'done' } }
    },
  })
  expect(result).toEqual({ error: interrupt.signal.reason })
  expect(types.filter((type) => type === 'attach')).toHaveLength(3)
  expect(types.at(-1)).toBe('release')
})

test('an interrupt after the last step does not change the result', async () => {
  const interrupt = new AbortController()
  const { result } = await run({
    yes: true,
    environment: { signal: interrupt.signal },
    syncNodeLabels: async () => interrupt.abort(),
  })
  expect(result).toEqual({ code: 0, result: { outcome: 'done' } })
})
