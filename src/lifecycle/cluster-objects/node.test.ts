import { expect, test } from 'vitest'
import { explainNotReadyNodes, type Node, nodeKind } from './node.ts'

const buildNode = (containerRuntimeVersion: string): Node =>
  nodeKind.schema.parse({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'w1' },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kubeletVersion: 'v1.32.5', containerRuntimeVersion },
    },
  })

test('a node that still counts as ready is not ready with a runtime that its kubelet has not reported', () => {
  const moved = buildNode('containerd://2.1.4')
  expect(explainNotReadyNodes([moved], ['w1'])).toBeUndefined()
  expect(explainNotReadyNodes([moved], ['w1'], 'docker')).toBe(
    'w1: its kubelet has not yet reported the runtime docker',
  )
  expect(explainNotReadyNodes([buildNode('docker://20.10.24')], ['w1'], 'docker')).toBeUndefined()
})
