import { array, assert, constantFrom, property, record, shuffledSubarray } from 'fast-check'
import { expect, test } from 'vitest'
import type { ComponentPlan } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { artifactOf, componentOf, fileOf, planOf, unitOf } from '../diff/testing/fixtures.ts'
import { hostPlan, planned } from './testing/fixtures.ts'
import { maxUnavailable } from './max-unavailable.ts'
import { step } from './step.ts'
import { groupsBack, opsBack, slotsBack } from './provisional-rollback.ts'
import { trialFindings, type TrialInput } from './provisional-findings.ts'

const certificate: ComponentPlan['certificates'][number] = {
  authority: 'kubernetes',
  subject: { commonName: 'kube-apiserver', organizations: [] },
  names: { dns: ['api'], ip: [] },
  usages: ['server'],
  lifetime: 1000,
  owner: 'root',
  certificateFile: '/tls.crt',
  keyFile: '/tls.key',
}

function kubelet(more: Partial<ComponentPlan> = {}): ComponentPlan {
  return componentOf({
    name: 'kubelet',
    artifacts: [artifactOf('kubelet', '1')],
    files: [fileOf('/kubelet.conf', 'before')],
    certificates: [certificate],
    service: unitOf('kubelet', 'unit'),
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
const former = planOf(kubelet())

function codes(plan: NodePlan, more: Partial<TrialInput> = {}, before: NodePlan | undefined = former) {
  const input = { hosts: [{ plan, former: before, ops: [] }], leaving: [], inside: [], keys: [], ...more }
  return trialFindings(input).map(({ code }) => code)
}

test('settings may be tried, and names of certificates', () => {
  expect(codes(planOf(kubelet({ files: [fileOf('/kubelet.conf', 'tried'), fileOf('/more', '')] })))).toEqual(
    [],
  )
  expect(codes(planOf(kubelet({ files: [], sysctls: { 'vm.swappiness': '1' } })))).toEqual([])
  const names = { dns: ['api', 'api.example.org'], ip: [] }
  expect(codes(planOf(kubelet({ certificates: [{ ...certificate, names }] })))).toEqual([])
})

test('what agents could not take back alone may not', () => {
  expect(codes(planOf(kubelet({ artifacts: [artifactOf('kubelet', '2')] })))).toEqual(['TRIAL_PROGRAMS'])
  expect(codes(planOf(kubelet({ images: ['pause:2'] })))).toEqual(['TRIAL_PROGRAMS'])
  expect(codes(planOf(kubelet(), componentOf({ name: 'more' })))).toEqual(['TRIAL_COMPONENTS'])
  expect(codes(planOf(kubelet({ certificates: [] })))).toEqual(['TRIAL_COMPONENTS'])
  expect(codes(former, { inside: ['addon coredns'] })).toEqual(['TRIAL_INSIDE'])
})

test('secrets may not, whether they come, change or go', () => {
  const plan = (...files: ComponentPlan['files']): NodePlan => planOf(kubelet({ files }))
  expect(codes(plan(secret('1')), {}, plan())).toEqual(['TRIAL_SECRETS'])
  expect(codes(plan(), {}, plan(secret('1')))).toEqual(['TRIAL_SECRETS'])
  expect(codes(plan(secret('2')), {}, plan(secret('1')))).toEqual(['TRIAL_SECRETS'])
  expect(codes(plan(secret('1'), fileOf('/a', '2')), {}, plan(secret('1'), fileOf('/a', '1')))).toEqual([])
  const [one, two] = ['PEM of one\n', 'PEM of two\n']
  const trusts = (text: string): NodePlan => plan(fileOf('/ca.crt', text))
  expect(codes(trusts(`${two}${one}`), { keys: [one, two] }, trusts(one))).toEqual(['TRIAL_SECRETS'])
  expect(codes(trusts(one), { keys: [one] }, trusts(one))).toEqual([])
})

test('hosts do not come and go on trial, and a first up is none', () => {
  const host = { plan: former, ops: [] }
  const [known, fresh] = [
    { ...host, former },
    { ...host, former: undefined },
  ]
  expect(codes(former, { hosts: [fresh, fresh] })).toEqual(['TRIAL_FIRST'])
  expect(codes(former, { hosts: [known, fresh] })).toEqual(['TRIAL_HOSTS'])
  expect(codes(former, { leaving: ['w1'] })).toEqual(['TRIAL_HOSTS'])
})

test('going back restarts what it must, and makes no certificate anew', () => {
  const tried = planOf(
    kubelet({
      files: [fileOf('/kubelet.conf', 'tried')],
      certificates: [{ ...certificate, names: { dns: ['other'], ip: [] } }],
    }),
  )
  expect(opsBack(former, tried).map(({ action, target, name }) => `${action} ${target} ${name}`)).toEqual([
    'change file /kubelet.conf',
    'restart service kubelet.service',
  ])
})

test('control planes go back first and one by one, the last first; then workers, as many as may be away', () => {
  const plans = planned(5)
  const steps = [
    step({ hosts: plans.map(({ host }) => host), stage: 'prepare' }),
    ...['cp1', 'cp2', 'cp3'].map((host) => step({ hosts: [host], stage: 'api' })),
    step({ hosts: ['w1', 'w2'], stage: 'node' }),
    step({ hosts: ['w3', 'w4'], stage: 'node' }),
  ]
  const groups = groupsBack({ plans, steps, maxUnavailable: 2, workers: 5 })
  expect(groups).toEqual([['cp3'], ['cp2'], ['cp1'], ['w4', 'w3'], ['w2', 'w1'], ['w5']])
  expect(slotsBack(groups, 120_000).get('w3')).toBe(360_000)
})

test('every host has one slot, and none shares it with a control plane', () => {
  const roles = constantFrom(
    ['control-plane', 'etcd'] as const,
    ['control-plane'] as const,
    ['etcd'] as const,
    ['worker'] as const,
  )
  const cluster = array(roles, { maxLength: 12 }).map((hosts) =>
    hosts.map((own, index) => hostPlan(`h${index}`, own)),
  )
  assert(
    property(
      cluster.chain((plans) => record({ plans: constantFrom(plans), some: shuffledSubarray(plans) })),
      constantFrom(1, 3, '10%', '50%'),
      ({ plans, some }, most) => {
        const workers = plans.filter(({ roles: own }) => own.includes('worker')).length
        const steps = some.map(({ host }) => step({ hosts: [host], stage: 'node' }))
        const groups = groupsBack({ plans, steps, maxUnavailable: most, workers })
        expect(groups.flat().toSorted()).toEqual(plans.map(({ host }) => host).toSorted())
        const slots = [...slotsBack(groups, 10)]
        for (const [host, slot] of slots) {
          const others = slots.filter(([, same]) => same === slot)
          const isWorker = plans.find((plan) => plan.host === host)?.roles.includes('worker') ?? false
          expect(others.length).toBeLessThanOrEqual(isWorker ? maxUnavailable(most, workers) : 1)
        }
      },
    ),
  )
})
