import { expect, test } from 'vitest'
import type { Node } from './node.ts'
import { nodeSettings } from './node-settings.ts'

const role = 'node-role.kubernetes.io/control-plane'
const taint = { key: role, value: '', effect: 'NoSchedule' as const }
const wish = { name: 'cp1', labels: { [role]: '', zone: 'a' }, taints: [taint] }
const notReady = { key: 'node.kubernetes.io/not-ready', value: '', effect: 'NoExecute' }

function node(labels: Record<string, string>, taints: readonly object[], memory?: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'cp1',
      resourceVersion: '7',
      labels,
      annotations: memory === undefined ? {} : { 'hyperkube.dev/node-settings': memory },
    },
    spec: { taints: taints.map((one) => ({ key: '', value: '', effect: '', ...one })) },
  }
}

const memory = JSON.stringify({ labels: [role, 'zone'], taints: [`${role}:NoSchedule`] })
const others = { 'kubernetes.io/os': 'linux' }

test('a node that has registered lacks what it may not say of itself', () => {
  expect(nodeSettings(wish, node({ ...others, zone: 'a' }, [notReady]))).toEqual({
    name: 'cp1',
    labels: { [role]: '' },
    annotations: { 'hyperkube.dev/node-settings': memory },
    taints: { all: [notReady, taint], resourceVersion: '7' },
  })
})

test('one that has all of it is left alone, whatever others have set', () => {
  const well = node({ ...others, [role]: '', zone: 'a' }, [taint, notReady], memory)
  expect(nodeSettings(wish, well)).toBeUndefined()
})

test('only what we set is taken away when it leaves the plan', () => {
  const now = node({ ...others, [role]: '', zone: 'a', theirs: 'x' }, [taint, notReady], memory)
  expect(nodeSettings({ name: 'cp1', labels: { zone: 'b' }, taints: [] }, now)).toMatchObject({
    labels: { [role]: null, zone: 'b' },
    taints: { all: [notReady] },
  })
})

test('a memory that cannot be read means that nothing is ours', () => {
  const now = node({ ...others, old: 'x' }, [notReady], 'garbage')
  const settings = nodeSettings({ name: 'cp1', labels: {}, taints: [] }, now)
  expect(settings).toEqual({ name: 'cp1', labels: {}, annotations: expect.any(Object) })
})
