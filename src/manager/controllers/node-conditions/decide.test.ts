import { expect, test } from 'vitest'
import type { HostStatus } from '../../../contract/host-resource.ts'
import { buildNodeConditions } from './decide.ts'
import { decideCordon, diskSettleMs } from './disk-cordoner.ts'

const since = '2026-11-16T08:00:00.000Z'
const component = (name: string, state: 'healthy' | 'unhealthy' | 'exhausted') => ({
  component: name,
  state,
  since,
})
const statuses = (status: HostStatus, silent = false): string[] =>
  buildNodeConditions(status, silent).map((one) => `${one.type} ${one.status} ${one.reason}`)

test('a healthy host has healthy conditions, and a silent one unknown conditions', () => {
  expect(statuses({ agent: '1.0.0', components: [component('etcd', 'healthy')] })).toEqual([
    'HyperkubeAgentReady True AgentReporting',
    'HyperkubeHealthy True ComponentsHealthy',
    'HyperkubeDiskHealthy True DisksHealthy',
  ])
  expect(statuses({}, true)).toEqual([
    'HyperkubeAgentReady Unknown AgentNotReporting',
    'HyperkubeHealthy Unknown AgentNotReporting',
    'HyperkubeDiskHealthy Unknown AgentNotReporting',
  ])
})

test('unhealthy components are named, the worst first', () => {
  const components = [component('kubelet', 'unhealthy'), component('etcd', 'exhausted')]
  expect(buildNodeConditions({ components }, false)[1]).toMatchObject({
    reason: 'NeedsOperator',
    message: expect.stringContaining('etcd'),
  })
  expect(statuses({ components: [component('kubelet', 'unhealthy')], suspended: 'paused' })).toEqual([
    'HyperkubeAgentReady True HealingSuspended',
    'HyperkubeHealthy False ComponentsUnhealthy',
    'HyperkubeDiskHealthy True DisksHealthy',
  ])
  const failing = [{ component: 'etcd', probe: 'disk', since, code: 'DISK_SLOW' }]
  expect(statuses({ failing })[2]).toBe('HyperkubeDiskHealthy False DISK_SLOW')
})

const own = 'disk-cordoner'
test.each([
  ['a disk fails', { isDiskFailing: true }, 'cordon'],
  ['it is cordoned by a user already', { isDiskFailing: true, unschedulable: true }, 'nothing'],
  ['it is cordoned by us already', { isDiskFailing: true, unschedulable: true, cordonedBy: own }, 'nothing'],
  ['a user has uncordoned it', { isDiskFailing: true, cordonedBy: own }, 'nothing'],
  ['the disk is healthy', { healthyForMs: diskSettleMs }, 'nothing'],
  [
    'the disk is healthy since a moment',
    { unschedulable: true, cordonedBy: own, healthyForMs: diskSettleMs - 1 },
    'nothing',
  ],
  [
    'the disk is healthy again',
    { unschedulable: true, cordonedBy: own, healthyForMs: diskSettleMs },
    'uncordon',
  ],
  [
    'the disk is healthy, and a user has uncordoned the node',
    { cordonedBy: own, healthyForMs: diskSettleMs },
    'forget',
  ],
  [
    'the disk is healthy, and a user has cordoned the node',
    { unschedulable: true, healthyForMs: diskSettleMs },
    'nothing',
  ],
  [
    'another controller has cordoned it',
    { unschedulable: true, cordonedBy: 'x', healthyForMs: diskSettleMs },
    'nothing',
  ],
] as const)('where %s', (_what, view, action) => {
  const none = { unschedulable: false, cordonedBy: undefined, isDiskFailing: false, healthyForMs: 0 }
  expect(decideCordon({ ...none, ...view })).toBe(action)
})
