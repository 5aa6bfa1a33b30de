import { expect, test } from 'vitest'
import { buildTestCluster } from '../../plan/testing/fixtures.ts'
import { buildNodeRows } from './list.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: etcd1, address: 10.0.0.3, roles: [etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
)

function buildNode(name: string, ready: string) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: {
      conditions: [{ type: 'Ready', status: ready, message: 'kubelet stopped posting status' }],
      nodeInfo: { kubeletVersion: 'v1.37.1' },
    },
  }
}

test('hosts are listed with their nodes, and nodes without a host last', () => {
  const rows = buildNodeRows(cluster, [buildNode('old', 'Unknown'), buildNode('cp1', 'True')])
  expect(rows.map(({ name, roles, node }) => [name, roles, node?.healthy])).toEqual([
    ['cp1', ['control-plane'], true],
    ['etcd1', ['etcd'], undefined],
    ['w1', ['worker'], false],
    ['old', [], false],
  ])
})

test('without the API hosts are listed without nodes', () => {
  const rows = buildNodeRows(cluster, undefined)
  expect(rows.map(({ name, node }) => [name, node])).toEqual([
    ['cp1', undefined],
    ['etcd1', undefined],
    ['w1', undefined],
  ])
})
