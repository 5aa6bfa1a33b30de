import { array, assert, constantFrom, property, record, shuffledSubarray } from 'fast-check'
import { expect, test } from 'vitest'
import type { ComponentPlan } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { buildArtifact, buildComponent, buildFile, buildPlan, buildUnit } from '../diff/testing/fixtures.ts'
import { resolveMaxUnavailable } from './cluster-state.ts'
import { provisionalFindings, type ProvisionalHost, type ProvisionalInput } from './provisional-findings.ts'
import { diffRollback, groupRollback, scheduleRollback } from './rollback.ts'
import { buildApplyStep } from './step.ts'
import { buildHostPlan, buildPlans } from './testing/fixtures.ts'

const certificate: ComponentPlan['certificates'][number] = {
  ca: 'kubernetes',
  subject: { commonName: 'kube-apiserver', organizations: [] },
  names: { dns: ['api'], ip: [] },
  usages: ['server'],
  lifetime: 1000,
  owner: 'root',
  certificateFile: '/tls.crt',
  keyFile: '/tls.key',
}

function kubelet(more: Partial<ComponentPlan> = {}): ComponentPlan {
  return buildComponent({
    name: 'kubelet',
    artifacts: [buildArtifact('kubelet', '1')],
    files: [buildFile('/kubelet.conf', 'before')],
    certificates: [certificate],
    service: buildUnit('kubelet', 'unit'),
    ...more,
  })
}

const secret = (tag: string): ComponentPlan['files'][number] => ({
  path: '/token',
  owner: 'root',
  mode: '0600',
  content: { kind: 'secret', secret: 'token', tag },
  restart: false,
})
const previous = buildPlan(kubelet())

function codes(
  plan: NodePlan,
  more: Partial<ProvisionalInput> = {},
  before: NodePlan | undefined = previous,
) {
  const input: ProvisionalInput = {
    hosts: [{ plan, previous: before, ops: [] }],
    removed: [],
    clusterChanges: [],
    keys: [],
    ...more,
  }
  return provisionalFindings(input).map(({ code }) => code)
}

test('a provisional change may contain settings and certificate names', () => {
  expect(
    codes(buildPlan(kubelet({ files: [buildFile('/kubelet.conf', 'tried'), buildFile('/more', '')] }))),
  ).toEqual([])
  expect(codes(buildPlan(kubelet({ files: [], sysctls: { 'vm.swappiness': '1' } })))).toEqual([])
  const names = { dns: ['api', 'api.example.org'], ip: [] }
  expect(codes(buildPlan(kubelet({ certificates: [{ ...certificate, names }] })))).toEqual([])
})

test('a provisional change of programs, components or cluster objects is refused', () => {
  expect(codes(buildPlan(kubelet({ artifacts: [buildArtifact('kubelet', '2')] })))).toEqual([
    'PROVISIONAL_PROGRAMS',
  ])
  expect(codes(buildPlan(kubelet({ images: ['pause:2'] })))).toEqual(['PROVISIONAL_PROGRAMS'])
  expect(codes(buildPlan(kubelet(), buildComponent({ name: 'more' })))).toEqual(['PROVISIONAL_COMPONENTS'])
  expect(codes(buildPlan(kubelet({ certificates: [] })))).toEqual(['PROVISIONAL_COMPONENTS'])
  expect(codes(previous, { clusterChanges: ['addon coredns'] })).toEqual(['PROVISIONAL_CLUSTER_OBJECTS'])
})

test('a provisional change that adds, changes or removes a secret or a CA is refused', () => {
  const plan = (...files: ComponentPlan['files']): NodePlan => buildPlan(kubelet({ files }))
  expect(codes(plan(secret('1')), {}, plan())).toEqual(['PROVISIONAL_SECRETS'])
  expect(codes(plan(), {}, plan(secret('1')))).toEqual(['PROVISIONAL_SECRETS'])
  expect(codes(plan(secret('2')), {}, plan(secret('1')))).toEqual(['PROVISIONAL_SECRETS'])
  expect(codes(plan(secret('1'), buildFile('/a', '2')), {}, plan(secret('1'), buildFile('/a', '1')))).toEqual(
    [],
  )
  const [one, two] = ['PEM of one\n', 'PEM of two\n']
  const trusts = (text: string): NodePlan => plan(buildFile('/ca.crt', text))
  expect(codes(trusts(`${two}${one}`), { keys: [one, two] }, trusts(one))).toEqual(['PROVISIONAL_SECRETS'])
  expect(codes(trusts(one), { keys: [one] }, trusts(one))).toEqual([])
})

test('a provisional change that adds or removes hosts, or is the first up, is refused', () => {
  const host = { plan: previous, ops: [] }
  const known: ProvisionalHost = { ...host, previous }
  const fresh: ProvisionalHost = { ...host, previous: undefined }
  expect(codes(previous, { hosts: [fresh, fresh] })).toEqual(['PROVISIONAL_NO_PREVIOUS_PLAN'])
  expect(codes(previous, { hosts: [known, fresh] })).toEqual(['PROVISIONAL_HOSTS'])
  expect(codes(previous, { removed: ['w1'] })).toEqual(['PROVISIONAL_HOSTS'])
})

test('a rollback restarts only components with changed files and reissues no certificate', () => {
  const tried = buildPlan(
    kubelet({
      files: [buildFile('/kubelet.conf', 'tried')],
      certificates: [{ ...certificate, names: { dns: ['other'], ip: [] } }],
    }),
  )
  expect(
    diffRollback(previous, tried).map(({ action, target, name }) => `${action} ${target} ${name}`),
  ).toEqual(['change file /kubelet.conf', 'restart service kubelet.service'])
})

test('control planes roll back first, one by one in reverse order, then workers in groups of maxUnavailable', () => {
  const plans = buildPlans(5)
  const steps = [
    buildApplyStep({ hosts: plans.map(({ host }) => host), stage: 'prepare' }),
    ...['cp1', 'cp2', 'cp3'].map((host) => buildApplyStep({ hosts: [host], stage: 'api' })),
    buildApplyStep({ hosts: ['w1', 'w2'], stage: 'node' }),
    buildApplyStep({ hosts: ['w3', 'w4'], stage: 'node' }),
  ]
  const groups = groupRollback({ plans, steps, maxUnavailable: 2, workers: 5 })
  expect(groups).toEqual([['cp3'], ['cp2'], ['cp1'], ['w4', 'w3'], ['w2', 'w1'], ['w5']])
  expect(scheduleRollback(groups, 120_000).get('w3')).toBe(360_000)
})

test('every host has one rollback slot, and no control plane shares its slot', () => {
  const roles = constantFrom(
    ['control-plane', 'etcd'] as const,
    ['control-plane'] as const,
    ['etcd'] as const,
    ['worker'] as const,
  )
  const cluster = array(roles, { maxLength: 12 }).map((hosts) =>
    hosts.map((own, index) => buildHostPlan(`h${index}`, own)),
  )
  assert(
    property(
      cluster.chain((plans) => record({ plans: constantFrom(plans), some: shuffledSubarray(plans) })),
      constantFrom(1, 3, '10%', '50%'),
      ({ plans, some }, most) => {
        const workers = plans.filter(({ roles: own }) => own.includes('worker')).length
        const steps = some.map(({ host }) => buildApplyStep({ hosts: [host], stage: 'node' }))
        const groups = groupRollback({ plans, steps, maxUnavailable: most, workers })
        expect(groups.flat().toSorted()).toEqual(plans.map(({ host }) => host).toSorted())
        const slots = [...scheduleRollback(groups, 10)]
        for (const [host, slot] of slots) {
          const others = slots.filter(([, same]) => same === slot)
          const isWorker = plans.find((plan) => plan.host === host)?.roles.includes('worker') ?? false
          expect(others.length).toBeLessThanOrEqual(isWorker ? resolveMaxUnavailable(most, workers) : 1)
        }
      },
    ),
  )
})
