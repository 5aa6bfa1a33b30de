import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import type { KnownEtcdMember } from '../etcd/membership.ts'
import { listClusterEndpoints, listDesiredRoles } from '../inputs/host-endpoints.ts'
import { deriveCurrentState } from './current-state.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: cp2, address: 10.0.0.2, roles: [control-plane] }',
  '{ name: cp3, address: 203.0.113.3, internalAddress: 10.0.0.3, roles: [control-plane], nodeName: third }',
  '{ name: w1, address: w1.example.com, roles: [worker] }',
)
const input = buildPlanInput(cluster)
const endpoints = listClusterEndpoints(cluster)

/** Input for a cluster in which the named hosts are unreachable and the others have no ops. */
function without(...names: readonly string[]) {
  const facts = new Map([...input.facts].filter(([name]) => !names.includes(name)))
  const { plans } = planCluster({ ...input, facts })
  return { plans, endpoints, hostsToRemove: [], ops: new Map(plans.map(({ host }) => [host, [] as Op[]])) }
}

function voter(address: string): KnownEtcdMember {
  return { name: '', peerUrls: [`https://${address}:2380`], learner: false }
}

const members = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(voter)

test('current roles of unreachable hosts come from etcd members and nodes', () => {
  const nodes = ['cp1', 'cp2', 'third', 'w1']
  expect(deriveCurrentState({ ...without('cp3', 'w1'), members, nodes })).toEqual({
    etcd: ['cp1', 'cp2', 'cp3'],
    etcdInstalled: ['cp1', 'cp2'],
    controlPlanes: ['cp1', 'cp2', 'cp3'],
    nodes: ['cp1', 'cp2', 'cp3', 'w1'],
  })
})

test('an unreachable host that is only an etcd learner has no current role', () => {
  const learner = { name: 'cp3', peerUrls: ['https://10.0.0.3:2380'], learner: true }
  const known = [...members.slice(0, 2), learner]
  expect(deriveCurrentState({ ...without('cp3'), members: known, nodes: ['cp1', 'cp2'] })).toMatchObject({
    etcd: ['cp1', 'cp2'],
    controlPlanes: ['cp1', 'cp2'],
    nodes: ['cp1', 'cp2', 'w1'],
  })
})

test('current roles of reachable hosts come from their ops, not from nodes', () => {
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
  // The kubelet of w1 is not installed yet, so node w1 is left over from an earlier host of the same name.
  expect(
    deriveCurrentState({ plans, endpoints, hostsToRemove: [], ops, members, nodes: ['w1'] }).nodes,
  ).toEqual(['cp1', 'cp2', 'cp3'])
})

test.each(['kubeadm', 'rke1'] as const)('hosts of %s have their roles before they move', (from) => {
  const adoption = { from, hosts: undefined, committed: false } as const
  // The network pods of the other tool stay.
  const { spec } = input.cluster
  const adopted = {
    ...input,
    cluster: { ...input.cluster, spec: { ...spec, network: { ...spec.network, plugin: 'none' as const } } },
  }
  const { plans } = planCluster({ ...adopted, identity: { ...input.identity, adoption } })
  const ops = new Map(
    plans.map(({ host, components }) => [
      host,
      components.flatMap(({ name: component, stage, service }): Op[] =>
        service === undefined
          ? []
          : [{ component, stage, action: 'create', target: 'service', name: service.name, because: [] }],
      ),
    ]),
  )
  const state = { plans, endpoints, hostsToRemove: [], ops, members, nodes: [] }
  expect(deriveCurrentState(state)).toMatchObject({
    controlPlanes: ['cp1', 'cp2', 'cp3'],
    nodes: ['cp1', 'cp2', 'cp3', 'w1'],
  })
  const committed = planCluster({
    ...adopted,
    identity: { ...input.identity, adoption: { ...adoption, committed: true } },
  })
  expect(deriveCurrentState({ ...state, plans: committed.plans })).toMatchObject({
    controlPlanes: [],
    nodes: [],
  })
})

test('desired roles come from cluster.yml alone', () => {
  expect(listDesiredRoles(cluster).get('cp3')).toEqual({ member: true, controlPlane: true, node: true })
  expect(listDesiredRoles(cluster).get('w1')).toEqual({ member: false, controlPlane: false, node: true })
})
