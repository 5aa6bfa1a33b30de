import { expect, test } from 'vitest'
import { ignoresCordon, type Pod, sortPods } from './pod.ts'
import { buildPod } from './testing/drained-node.ts'

const ending = { deletionTimestamp: '2026-11-15T12:00:00Z' }
const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name)

test('DaemonSet, static and completed pods stay, pods with a controller move, other pods are unmanaged', () => {
  const { staying, moving, unmanaged } = sortPods([
    buildPod('web'),
    buildPod('database', { controller: 'StatefulSet' }),
    buildPod('log-collector', { controller: 'DaemonSet' }),
    buildPod('static', { controller: 'Node', annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    buildPod('done', { controller: 'Job', phase: 'Succeeded' }),
    buildPod('failed', { controller: '', phase: 'Failed' }),
    buildPod('kept', { ...ending, phase: 'Failed', finalizers: ['example.org/keep'] }),
    buildPod('tidied', { ...ending, phase: 'Succeeded' }),
    buildPod('going', { ...ending, controller: '' }),
    buildPod('by-hand', { controller: '' }),
    buildPod('owned', { ownerReferences: [{ kind: 'ConfigMap', name: 'x' }] }),
    buildPod('smoke-test', { controller: '', labels: { 'hyperkube.dev/smoke-test': 'w1' } }),
  ])
  expect(names(staying)).toEqual(['log-collector', 'static', 'done', 'failed', 'kept'])
  expect(names(moving)).toEqual(['web', 'database', 'tidied', 'going', 'smoke-test'])
  expect(names(unmanaged)).toEqual(['by-hand', 'owned'])
})

test.each<[boolean, Pod['spec']['tolerations'][number]]>([
  [true, { operator: 'Exists' }],
  [true, { operator: 'Exists', effect: 'NoSchedule' }],
  [true, { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }],
  [true, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
  [false, { operator: 'Exists', effect: 'NoExecute' }],
  [false, { key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
])('ignoresCordon returns %s for the toleration %j', (is, toleration) => {
  expect(ignoresCordon(buildPod('web', { spec: { tolerations: [toleration] } }))).toBe(is)
})
