import { expect, test } from 'vitest'
import type { Cluster } from '../../spec/cluster.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, parseTestCluster } from '../../plan/testing/fixtures.ts'
import type { Node } from '../cluster-objects/node.ts'
import { checkAddressFamilies, checkPlannedFamilies } from './address-family-findings.ts'

function buildCluster(network: string): Cluster {
  return parseTestCluster(`apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  network: { ${network} }
  hosts:
    - { name: one, address: 10.0.0.1, roles: [control-plane, worker] }
`)
}

const single = buildCluster('pods: 10.244.0.0/16')
const dual = buildCluster(
  "pods: [10.244.0.0/16, 'fd00:10:244::/56'], services: [10.96.0.0/16, 'fd00:10:96::/112']",
)

function buildNode(name: string, podCIDRs?: readonly string[]): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: { taints: [], ...(podCIDRs === undefined ? {} : { podCIDRs: [...podCIDRs] }) },
  }
}

const ipv4Node = buildNode('one', ['10.244.0.0/24'])
const dualNode = buildNode('one', ['10.244.0.0/24', 'fd00:10:244::/64'])

test('nodes with the address families of cluster.yml, or without pod networks, are accepted', () => {
  expect(checkAddressFamilies(single, [ipv4Node])).toEqual([])
  expect(checkAddressFamilies(dual, [dualNode])).toEqual([])
  expect(checkAddressFamilies(dual, [buildNode('one'), buildNode('foreign', ['10.0.0.0/24'])])).toEqual([])
})

test('a change from IPv4 to dual-stack and back is refused', () => {
  expect(checkAddressFamilies(dual, [ipv4Node])).toEqual([
    {
      code: 'PLAN_ADDRESS_FAMILIES',
      severity: 'error',
      message: 'the pod networks of one have IPv4, but spec.network.pods has IPv4 and IPv6',
      hint: 'set spec.network.pods and spec.network.services as before, or create a new cluster',
      path: 'spec.network.pods',
    },
  ])
  expect(checkAddressFamilies(single, [dualNode])).toMatchObject([
    { message: 'the pod networks of one have IPv4 and IPv6, but spec.network.pods has IPv4' },
  ])
})

test('previous plans are refused in the same way', () => {
  const addresses = [
    { interface: 'eth0', address: '10.0.0.1', prefix: 24 },
    { interface: 'eth0', address: 'fd00::1', prefix: 64 },
  ]
  const plan = (cluster: Cluster) =>
    planCluster(buildPlanInput(cluster, () => ({ linux: { addresses } }))).plans
  expect(checkPlannedFamilies(single, plan(single))).toEqual([])
  expect(checkPlannedFamilies(dual, plan(dual))).toEqual([])
  expect(checkPlannedFamilies(dual, plan(single))).toMatchObject([{ code: 'PLAN_ADDRESS_FAMILIES' }])
  expect(checkPlannedFamilies(single, plan(dual))).toMatchObject([{ code: 'PLAN_ADDRESS_FAMILIES' }])
})
