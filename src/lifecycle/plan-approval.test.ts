import { expect, test } from 'vitest'
import { entirely } from '../addons/new-addon-diff.ts'
import type { Op } from '../contract/op.ts'
import { clusterWith, planInput } from '../plan/testing/fixtures.ts'
import { planCluster } from '../plan/plan.ts'
import { noAddons } from './addons/proposal.ts'
import { nothing, type Proposal } from './build-proposal.ts'
import { beyondAgreement } from './plan-approval.ts'
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
const proposal = (ops: readonly Op[], own = plans, more: Partial<Proposal> = {}): Proposal => ({
  ...nothing,
  plans: own,
  ops: new Map([['w1', ops]]),
  ...more,
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

test('of addons neither another one, nor other content, nor another change', () => {
  const map = (word: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default' },
    data: { word },
  })
  const shop = entirely({ name: 'shop', manifests: [map('one')] })
  const withAddons = (...differences: readonly (typeof shop)[]): Proposal =>
    proposal([], plans, { addons: { ...noAddons, differences } })
  const kept = planDocument(withAddons(shop), all)
  expect(beyondAgreement(kept, withAddons(shop))).toEqual([])
  expect(beyondAgreement(kept, withAddons())).toEqual([])
  expect(beyondAgreement(agreed, withAddons(shop))).toEqual(['addon shop is not in it'])
  const other = entirely({ name: 'shop', manifests: [map('two')] })
  expect(beyondAgreement(kept, withAddons(other))).toEqual(['addon shop would be another one now'])
  const more = { apiVersion: 'v1', kind: 'Secret', name: 'b', act: 'remove' as const }
  expect(beyondAgreement(kept, withAddons({ ...shop, unwished: [more] }))).toEqual(['addon shop: Secret b'])
})
