import { expect, test } from 'vitest'
import type { Op } from '../contract/op.ts'
import { clusterWith, planInput } from '../plan/testing/fixtures.ts'
import { planCluster } from '../plan/plan.ts'
import { type KnownMember, liveOf } from './current-state.ts'
import { placesIn, rolesIn } from './host-endpoints.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: cp2, address: 10.0.0.2, roles: [control-plane] }',
  '{ name: cp3, address: 203.0.113.3, internalAddress: 10.0.0.3, roles: [control-plane], nodeName: third }',
  '{ name: w1, address: w1.example.com, roles: [worker] }',
)
const input = planInput(cluster)
const places = placesIn(cluster)

/** What is planned while some hosts do not answer, and nothing is to do on the others. */
function without(...names: readonly string[]) {
  const facts = new Map([...input.facts].filter(([name]) => !names.includes(name)))
  const { plans } = planCluster({ ...input, facts })
  return { plans, places, leavers: [], ops: new Map(plans.map(({ host }) => [host, [] as Op[]])) }
}

function voter(address: string): KnownMember {
  return { name: '', peerUrls: [`https://${address}:2380`], learner: false }
}

const members = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(voter)

test('hosts that do not answer are what etcd and the API say they are', () => {
  const nodes = ['cp1', 'cp2', 'third', 'w1']
  expect(liveOf({ ...without('cp3', 'w1'), members, nodes })).toEqual({
    etcd: ['cp1', 'cp2', 'cp3'],
    etcdThere: ['cp1', 'cp2'],
    controlPlanes: ['cp1', 'cp2', 'cp3'],
    nodes: ['cp1', 'cp2', 'cp3', 'w1'],
  })
})

test('one that was never there is nothing yet, and so is one that still learns', () => {
  const learner = { name: 'cp3', peerUrls: ['https://10.0.0.3:2380'], learner: true }
  const known = [...members.slice(0, 2), learner]
  expect(liveOf({ ...without('cp3'), members: known, nodes: ['cp1', 'cp2'] })).toMatchObject({
    etcd: ['cp1', 'cp2'],
    controlPlanes: ['cp1', 'cp2'],
    nodes: ['cp1', 'cp2', 'w1'],
  })
})

test('hosts that answer say it themselves', () => {
  const { plans } = without()
  const create: Op = {
    component: 'kubelet',
    stage: 'node',
    action: 'create',
    target: 'service',
    name: 'kubelet.service',
    because: [],
  }
  const ops = new Map(plans.map(({ host }) => [host, host === 'w1' ? [create] : []]))
  // Its node is left from a host of the same name.
  expect(liveOf({ plans, places, leavers: [], ops, members, nodes: ['w1'] }).nodes).toEqual([
    'cp1',
    'cp2',
    'cp3',
  ])
})

test('what a host shall be is known without a plan', () => {
  expect(rolesIn(cluster).get('cp3')).toEqual({ member: true, controlPlane: true, node: true })
  expect(rolesIn(cluster).get('w1')).toEqual({ member: false, controlPlane: false, node: true })
})
