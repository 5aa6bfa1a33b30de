import { expect, test } from 'vitest'
import type { HostStatus } from '../../../contract/host-resource.ts'
import { decideCordon, settledAfter } from './cordon.ts'
import { conditionsOf } from './decide.ts'

const since = '2026-11-16T08:00:00.000Z'
const component = (name: string, state: 'well' | 'unwell' | 'given-up') => ({ component: name, state, since })
const statuses = (status: HostStatus, silent = false): string[] =>
  conditionsOf(status, silent).map((one) => `${one.type} ${one.status} ${one.reason}`)

test('a host that is well is said to be, and one of which nothing is heard is not', () => {
  expect(statuses({ agent: '1.0.0', components: [component('etcd', 'well')] })).toEqual([
    'HyperkubeAgentReady True AgentReports',
    'HyperkubeHealthy True ComponentsWell',
    'HyperkubeDiskHealthy True DisksWell',
  ])
  expect(statuses({}, true)).toEqual([
    'HyperkubeAgentReady Unknown AgentSilent',
    'HyperkubeHealthy Unknown AgentSilent',
    'HyperkubeDiskHealthy Unknown AgentSilent',
  ])
})

test('what is not well is named, and the worst first', () => {
  const components = [component('kubelet', 'unwell'), component('etcd', 'given-up')]
  expect(conditionsOf({ components }, false)[1]).toMatchObject({
    reason: 'NeedsOperator',
    message: expect.stringContaining('etcd'),
  })
  expect(statuses({ components: [component('kubelet', 'unwell')], idle: 'paused' })).toEqual([
    'HyperkubeAgentReady True AgentIdle',
    'HyperkubeHealthy False ComponentsUnwell',
    'HyperkubeDiskHealthy True DisksWell',
  ])
  const failing = [{ component: 'etcd', probe: 'disk', since, code: 'DISK_SLOW' }]
  expect(statuses({ failing })[2]).toBe('HyperkubeDiskHealthy False DISK_SLOW')
})

const own = 'disk-cordoner'
test.each([
  ['a disk fails', { diskFails: true }, 'cordon'],
  ['it is cordoned by somebody already', { diskFails: true, unschedulable: true }, 'nothing'],
  ['it is cordoned by us already', { diskFails: true, unschedulable: true, cordonedBy: own }, 'nothing'],
  ['somebody has taken ours away', { diskFails: true, cordonedBy: own }, 'nothing'],
  ['all is well', { wellFor: settledAfter }, 'nothing'],
  [
    'it is well since a moment',
    { unschedulable: true, cordonedBy: own, wellFor: settledAfter - 1 },
    'nothing',
  ],
  ['it is well again', { unschedulable: true, cordonedBy: own, wellFor: settledAfter }, 'uncordon'],
  ['it is well, and ours was taken away', { cordonedBy: own, wellFor: settledAfter }, 'forget'],
  [
    'it is well, and somebody else has cordoned it',
    { unschedulable: true, wellFor: settledAfter },
    'nothing',
  ],
  ['another one of ours has', { unschedulable: true, cordonedBy: 'x', wellFor: settledAfter }, 'nothing'],
] as const)('where %s', (_what, view, action) => {
  const none = { unschedulable: false, cordonedBy: undefined, diskFails: false, wellFor: 0 }
  expect(decideCordon({ ...none, ...view })).toBe(action)
})
