import { expect, test } from 'vitest'
import type { Op } from '../contract/op.ts'
import { clusterWith, planInput } from '../plan/fixtures.ts'
import { planCluster } from '../plan/plan.ts'
import type { Proposal } from './survey.ts'
import { beyondAgreement } from './agreement.ts'
import { planDocument } from './plan-document.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)
const { plans } = planCluster(planInput(cluster))
const file: Op = {
  component: 'kubelet',
  stage: 'node',
  action: 'change',
  target: 'file',
  name: '/etc/hyperkube/kubelet/config.yaml',
  because: [],
}
const restart: Op = { ...file, action: 'restart', target: 'service', name: 'kubelet.service', because: ['a'] }
const proposal = (ops: readonly Op[], own = plans): Proposal => ({
  findings: [],
  plans: own,
  ops: new Map([['w1', ops]]),
  steps: [],
  inside: [],
})
const all = new Set(['cp1', 'w1'])
const agreed = planDocument(proposal([file, restart]), all)

test('the same, less of it, and the same for fewer reasons are agreed to', () => {
  expect(beyondAgreement(agreed, proposal([file, restart]))).toEqual([])
  expect(beyondAgreement(agreed, proposal([{ ...restart, because: [] }]))).toEqual([])
  expect(beyondAgreement(agreed, proposal([]))).toEqual([])
})

test('another op is not', () => {
  expect(beyondAgreement(agreed, proposal([file, { ...restart, name: 'containerd.service' }]))).toEqual([
    'w1: restart service containerd.service',
  ])
})

test('nor are the same ops with other content, or on a host that was not spoken of', () => {
  const other = plans.map((plan) => ({ ...plan, address: '10.0.0.9' }))
  expect(beyondAgreement(agreed, proposal([file], other))).toEqual(['w1 would be planned otherwise now'])
  const limited = planDocument(proposal([file]), new Set(['cp1']))
  expect(beyondAgreement(limited, proposal([file]))).toEqual(['w1 is not in it'])
})
