import { expect, test } from 'vitest'
import { describeObjectChanges } from './changes.ts'
import { cordonOwnerAnnotation, type Node, rolloutCordonReason } from './node.ts'
import { computeNodeSettings } from './node-settings.ts'

const role = 'node-role.kubernetes.io/control-plane'
const taint = { key: role, value: '', effect: 'NoSchedule' as const }
const spec = { name: 'cp1', labels: { [role]: '', zone: 'a' }, taints: [taint] }
const notReady = { key: 'node.kubernetes.io/not-ready', value: '', effect: 'NoExecute' }

function node(labels: Record<string, string>, taints: readonly object[], appliedSettings?: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'cp1',
      resourceVersion: '7',
      labels,
      annotations: appliedSettings === undefined ? {} : { 'hyperkube.dev/node-settings': appliedSettings },
    },
    spec: { taints: taints.map((one) => ({ key: '', value: '', effect: '', ...one })) },
  }
}

const appliedSettings = JSON.stringify({ labels: [role, 'zone'], taints: [`${role}:NoSchedule`] })
const others = { 'kubernetes.io/os': 'linux' }

test('a registered node gets the labels and taints that a kubelet may not set', () => {
  expect(computeNodeSettings(spec, node({ ...others, zone: 'a' }, [notReady]))).toEqual({
    name: 'cp1',
    labels: { [role]: '' },
    annotations: { 'hyperkube.dev/node-settings': appliedSettings },
    taints: { all: [notReady, taint], resourceVersion: '7' },
  })
})

test('a node with all settings is not changed, and foreign labels and taints stay', () => {
  const upToDate = node({ ...others, [role]: '', zone: 'a' }, [taint, notReady], appliedSettings)
  expect(computeNodeSettings(spec, upToDate)).toBeUndefined()
})

test('only labels and taints that hyperkube set are removed when the spec drops them', () => {
  const now = node({ ...others, [role]: '', zone: 'a', theirs: 'x' }, [taint, notReady], appliedSettings)
  expect(computeNodeSettings({ name: 'cp1', labels: { zone: 'b' }, taints: [] }, now)).toMatchObject({
    labels: { [role]: null, zone: 'b' },
    taints: { all: [notReady] },
  })
})

test('with an invalid annotation no label or taint is removed', () => {
  const now = node({ ...others, old: 'x' }, [notReady], 'garbage')
  const settings = computeNodeSettings({ name: 'cp1', labels: {}, taints: [] }, now)
  expect(settings).toEqual({ name: 'cp1', labels: {}, annotations: expect.any(Object) })
})

function buildSpec(labels: Record<string, string>): typeof spec {
  return { ...spec, labels: { ...spec.labels, ...labels } }
}

/** A node with all settings that is cordoned for a reason. */
function cordonedNode(reason: string | undefined, ready: boolean): Node {
  const upToDate = node({ ...others, [role]: '', zone: 'a' }, [taint], appliedSettings)
  const { metadata } = upToDate
  const annotations = {
    ...metadata.annotations,
    ...(reason === undefined ? {} : { [cordonOwnerAnnotation]: reason }),
  }
  return {
    ...upToDate,
    metadata: { ...metadata, annotations },
    spec: { taints: [taint], unschedulable: true },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }
}

test('a cordon that an interrupted rollout has left on a ready node is removed', () => {
  const settings = computeNodeSettings(spec, cordonedNode(rolloutCordonReason, true))
  expect(settings).toEqual({
    name: 'cp1',
    labels: {},
    annotations: { 'hyperkube.dev/node-settings': appliedSettings, [cordonOwnerAnnotation]: null },
    uncordon: true,
  })
})

test.each([
  ['the cordon of node cp1', spec, cordonedNode(rolloutCordonReason, true)],
  ['labels and the cordon of node cp1', buildSpec({ zone: 'b' }), cordonedNode(rolloutCordonReason, true)],
  ['labels of node cp1', buildSpec({ zone: 'b' }), node({ [role]: '', zone: 'a' }, [taint], appliedSettings)],
  ['taints of node cp1', spec, node({ [role]: '', zone: 'a' }, [], appliedSettings)],
  ['labels and taints of node cp1', spec, node({}, [])],
  ['annotation hyperkube.dev/node-settings of node cp1', spec, node({ [role]: '', zone: 'a' }, [taint])],
])('the plan names only what changes: %s', (text, desired, current) => {
  const settings = computeNodeSettings(desired, current)
  if (settings === undefined) throw new Error('no settings')
  expect(describeObjectChanges([{ kind: 'node', settings }])).toEqual([text])
})

test.each([
  ['of an operator', 'me@here: hyperkube node drain', true],
  ['of another program', undefined, true],
  ['of a node that is not ready', rolloutCordonReason, false],
])('the cordon %s stays', (_, reason, ready) => {
  expect(computeNodeSettings(spec, cordonedNode(reason, ready))).toBeUndefined()
})
