import { expect, test } from 'vitest'
import type { Pod } from './pod.ts'
import { ignoresCordon, sortPods } from './sort-pods.ts'
import { podNamed } from './testing/fake-node-api.ts'

const ending = { deletionTimestamp: '2026-11-15T12:00:00Z' }
const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name)

test('what belongs to the node or has ended stays, what somebody makes anew moves, the rest is gone for good', () => {
  const { staying, moving, unmanaged } = sortPods([
    podNamed('web'),
    podNamed('database', { controller: 'StatefulSet' }),
    podNamed('log-collector', { controller: 'DaemonSet' }),
    podNamed('static', { controller: 'Node', annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    podNamed('done', { controller: 'Job', phase: 'Succeeded' }),
    podNamed('failed', { controller: '', phase: 'Failed' }),
    podNamed('kept', { ...ending, phase: 'Failed', finalizers: ['example.org/keep'] }),
    podNamed('tidied', { ...ending, phase: 'Succeeded' }),
    podNamed('going', { ...ending, controller: '' }),
    podNamed('by-hand', { controller: '' }),
    podNamed('owned', { ownerReferences: [{ kind: 'ConfigMap', name: 'x' }] }),
    podNamed('trial', { controller: '', labels: { 'hyperkube.dev/trial': 'w1' } }),
  ])
  expect(names(staying)).toEqual(['log-collector', 'static', 'done', 'failed', 'kept'])
  expect(names(moving)).toEqual(['web', 'database', 'tidied', 'going', 'trial'])
  expect(names(unmanaged)).toEqual(['by-hand', 'owned'])
})

test.each<[boolean, Pod['spec']['tolerations'][number]]>([
  [true, { operator: 'Exists' }],
  [true, { operator: 'Exists', effect: 'NoSchedule' }],
  [true, { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }],
  [true, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
  [false, { operator: 'Exists', effect: 'NoExecute' }],
  [false, { key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
])('heeds no cordon: %s for %j', (is, toleration) => {
  expect(ignoresCordon(podNamed('web', { spec: { tolerations: [toleration] } }))).toBe(is)
})
