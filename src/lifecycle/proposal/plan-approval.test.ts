import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diffNewAddon } from '../../addons/diff-addon.ts'
import type { Op } from '../../contract/op.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import { noAddons } from '../addons/proposal.ts'
import { emptyProposal, type Proposal } from './proposal.ts'
import { buildPlanDocument, findUnapprovedChanges, planFormat } from './plan-approval.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)
const { plans } = planCluster(buildPlanInput(cluster))
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
  ...emptyProposal,
  plans: own,
  ops: new Map([['w1', ops]]),
  ...more,
})
const all = new Set(['cp1', 'w1'])
const approved = buildPlanDocument(proposal([file, restart]), all)

test('the same ops, fewer ops, and ops with fewer reasons are approved', () => {
  expect(findUnapprovedChanges(approved, proposal([file, restart]))).toEqual([])
  expect(findUnapprovedChanges(approved, proposal([{ ...restart, because: [] }]))).toEqual([])
  expect(findUnapprovedChanges(approved, proposal([]))).toEqual([])
})

test('an additional op is not approved', () => {
  expect(
    findUnapprovedChanges(approved, proposal([file, { ...restart, name: 'containerd.service' }])),
  ).toEqual(['w1: restart service containerd.service'])
})

test('ops of a changed plan, or on a host outside the approved plan, are not approved', () => {
  const other = plans.map((plan) => ({ ...plan, address: '10.0.0.9' }))
  expect(findUnapprovedChanges(approved, proposal([file], other))).toEqual(['the plan of w1 has changed'])
  const limited = buildPlanDocument(proposal([file]), new Set(['cp1']))
  expect(findUnapprovedChanges(limited, proposal([file]))).toEqual(['w1 is not in the approved plan'])
})

test('an additional addon, other addon content and an additional prune are not approved', () => {
  const map = (word: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default' },
    data: { word },
  })
  const shop = diffNewAddon({ name: 'shop', manifests: [map('one')] })
  const withAddons = (...differences: readonly (typeof shop)[]): Proposal =>
    proposal([], plans, { addons: { ...noAddons, differences } })
  const approvedAddons = buildPlanDocument(withAddons(shop), all)
  expect(findUnapprovedChanges(approvedAddons, withAddons(shop))).toEqual([])
  expect(findUnapprovedChanges(approvedAddons, withAddons())).toEqual([])
  expect(findUnapprovedChanges(approved, withAddons(shop))).toEqual([
    'addon shop is not in the approved plan',
  ])
  const other = diffNewAddon({ name: 'shop', manifests: [map('two')] })
  expect(findUnapprovedChanges(approvedAddons, withAddons(other))).toEqual(['addon shop has changed'])
  const more = { apiVersion: 'v1', kind: 'Secret', name: 'b', action: 'remove' as const }
  expect(findUnapprovedChanges(approvedAddons, withAddons({ ...shop, toPrune: [more] }))).toEqual([
    'addon shop: Secret b',
  ])
})

/** Plan document of the first release. Every later release must be able to read it. */
const golden: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'testdata/plan.v1.json'), 'utf8'))

test('the plan document of the first release can still be read completely', () => {
  expect(readVersioned(planFormat, golden)).toEqual(golden)
})
