import { expect, test } from 'vitest'
import { nodeSettingsAnnotation } from '../cluster-objects/node-settings.ts'
import type { Node } from '../cluster-objects/node.ts'
import type { KnownEtcdMember } from '../etcd/membership.ts'
import { findHostsToRemove } from './hosts-to-remove.ts'

const endpoints = [
  { host: 'cp1', address: '10.0.0.1', etcd: true, node: 'cp1' },
  { host: 'w1', address: '10.0.0.4', etcd: false, node: 'w1' },
]

function member(name: string, address: string, learner = false): KnownEtcdMember {
  return { name, peerUrls: [`https://${address}:2380`], learner }
}

function node(name: string, address: string, labels: Record<string, string> = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, annotations: { [nodeSettingsAnnotation]: '{}' } },
    status: { conditions: [], addresses: [{ type: 'InternalIP', address }] },
  }
}

const controlPlane = { 'node-role.kubernetes.io/control-plane': '' }

test('hosts of cluster.yml are not removed', () => {
  const nodes = [node('cp1', '10.0.0.1', controlPlane), node('w1', '10.0.0.4')]
  expect(findHostsToRemove(endpoints, [member('cp1', '10.0.0.1')], nodes)).toEqual([])
})

test('an etcd member and its node are removed as one host, a worker by its node', () => {
  const members = [member('cp1', '10.0.0.1'), member('cp2', '10.0.0.2')]
  const nodes = [node('second', '10.0.0.2', controlPlane), node('w2', '10.0.0.5')]
  expect(findHostsToRemove(endpoints, members, nodes)).toEqual([
    { host: 'cp2', address: '10.0.0.2', etcd: true, api: true, node: 'second' },
    { host: 'w2', address: '10.0.0.5', etcd: false, api: false, node: 'w2' },
  ])
})

test('with IPv6 first, an etcd member and its node are one host too, and a worker has its IPv4 address', () => {
  const withIpv6 = (one: Node, address: string): Node => ({
    ...one,
    status: {
      conditions: [],
      addresses: [{ type: 'InternalIP', address }, ...(one.status?.addresses ?? [])],
    },
  })
  const members = [member('cp1', '10.0.0.1'), member('cp2', '10.0.0.2')]
  const nodes = [
    withIpv6(node('second', '10.0.0.2', controlPlane), 'fd00::2'),
    withIpv6(node('w2', '10.0.0.5'), 'fd00::5'),
  ]
  expect(findHostsToRemove(endpoints, members, nodes)).toEqual([
    { host: 'cp2', address: '10.0.0.2', etcd: true, api: true, node: 'second' },
    { host: 'w2', address: '10.0.0.5', etcd: false, api: false, node: 'w2' },
  ])
})

test('a member that never started is removed by its address, and foreign nodes are ignored', () => {
  const foreign = { ...node('theirs', '10.0.0.9'), metadata: { name: 'theirs' } }
  expect(findHostsToRemove(endpoints, [member('', '10.0.0.3', true)], [foreign])).toEqual([
    { host: '10.0.0.3', address: '10.0.0.3', etcd: true, api: false, node: undefined },
  ])
})

test('a member on a desired host is not removed while the address of the host is unknown', () => {
  const unreachable = { host: 'cp2', address: undefined, etcd: true, node: 'cp2' }
  const members = [member('cp1', '10.0.0.1'), member('cp2', '10.0.0.2'), member('', '10.0.0.3', true)]
  expect(findHostsToRemove([...endpoints, unreachable], members, [])).toEqual([])
  const other = findHostsToRemove([...endpoints, unreachable], [member('cp9', '10.0.0.9')], [])
  expect(other.map(({ host }) => host)).toEqual(['cp9'])
})
