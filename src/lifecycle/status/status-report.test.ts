import { describe, expect, test } from 'vitest'
import type { HealAction } from '../../contract/health.ts'
import type { Identity } from '../../identity/identity.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import { listClusterEndpoints, listLoginEndpoints, listPlannedEndpoints } from '../inputs/host-endpoints.ts'
import { listServiceNames, parseServiceStatus } from '../observe/services.ts'
import {
  buildHealthyCluster,
  changeHost,
  withComponent,
  withHealth,
  withLostHosts,
  withNodeCondition,
} from '../observe/testing/cluster-fixtures.ts'
import {
  buildStatusReport,
  isHostHealthy,
  listHostStatuses,
  summarizeClusterStatus,
} from './status-report.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: db1, address: 10.0.0.2, roles: [etcd] }',
  '{ name: w1, address: 10.0.0.3, roles: [worker], nodeName: worker-one }',
)
const { spec } = cluster
const { network } = spec

describe.each([
  ['defaults', cluster],
  ['no network plugin', { ...cluster, spec: { ...spec, network: { ...network, plugin: 'none' as const } } }],
  [
    'no kube-proxy',
    {
      ...cluster,
      spec: { ...spec, network: { ...network, plugin: 'none' as const, kubeProxy: 'none' as const } },
    },
  ],
  ['no controller manager', { ...cluster, spec: { ...spec, manager: 'none' as const } }],
])('expected services with %s', (_, variant) => {
  const { plans } = planCluster(buildPlanInput(variant))

  test('cluster.yml alone gives the same endpoints as the plans', () => {
    expect(listClusterEndpoints(variant).toSorted((a, b) => (a.host < b.host ? -1 : 1))).toEqual(
      listPlannedEndpoints(plans),
    )
  })

  test('a host is expected to run the services of its plan, and no others', () => {
    for (const plan of plans) {
      const [endpoint] = listPlannedEndpoints([plan])
      const planned = plan.components.flatMap(({ service }) => service?.name ?? [])
      expect(endpoint && listServiceNames(endpoint).map((name) => `${name}.service`)).toEqual(planned)
    }
  })
})

test('endpoints for a login have the ssh command of each host, except of this machine', () => {
  const [first, second, third] = spec.hosts
  if (first === undefined || second === undefined || third === undefined) throw new Error('no hosts')
  const hosts = [{ ...first, local: true }, { ...second, ssh: { user: 'ana', port: 2222 } }, third]
  const endpoints = listLoginEndpoints({ ...cluster, spec: { ...spec, ssh: { user: 'root' }, hosts } })
  expect(endpoints.map(({ sshCommand }) => sshCommand)).toEqual([
    undefined,
    'ssh -p 2222 ana@10.0.0.2',
    'ssh root@10.0.0.3',
  ])
})

test('systemd unit properties become a service state', () => {
  const block = (load: string, active: string): string =>
    `Id=etcd.service\nLoadState=${load}\nActiveState=${active}\nNRestarts=3`
  expect(parseServiceStatus(block('loaded', 'active'))).toEqual({
    name: 'etcd',
    state: 'active',
    restarts: 3,
  })
  expect(parseServiceStatus(block('not-found', 'inactive')).state).toBe('missing')
  expect(parseServiceStatus(block('loaded', 'activating')).state).toBe('starting')
  expect(parseServiceStatus(block('loaded', 'inactive')).state).toBe('stopped')
})

test('an unreachable host is unhealthy with a reason, and the others are still reported', () => {
  const observation = withLostHosts(buildHealthyCluster(), 'cp1')
  const [first, second] = listHostStatuses({ ...observation, nodes: undefined })
  expect(first).toMatchObject({
    unreachable: 'connect ETIMEDOUT',
    etcd: { healthy: false },
    api: { healthy: false, unknown: true },
    node: { healthy: false, unknown: true },
  })
  // The other members report the lost member, so its health is known.
  expect(first?.etcd).not.toHaveProperty('unknown')
  expect(summarizeClusterStatus(observation, spec)).not.toHaveProperty('controlPlanesUnreachable')
  expect(first && isHostHealthy(first)).toBe(false)
  expect(second).toMatchObject({
    unreachable: undefined,
    etcd: { healthy: true },
    api: { healthy: true },
    node: { healthy: false, reason: 'no API server is reachable' },
  })
})

test('without a reachable control plane, the health of etcd and API servers is unknown', () => {
  const observation = withLostHosts(buildHealthyCluster(), 'cp1', 'cp2', 'cp3')
  const unreachable = { ...observation, etcd: { state: 'unreachable', reason: 'timeout' } } as const
  const [first] = listHostStatuses(unreachable)
  expect(first).toMatchObject({ etcd: { unknown: true }, api: { unknown: true } })
  expect(summarizeClusterStatus(unreachable, spec)).toMatchObject({ controlPlanesUnreachable: true })
})

test('an adoption is reported until its commit', () => {
  const observed = '2026-11-19T09:30:00.000Z'
  const adoption = { from: 'rke1', observed } as const
  const read = (identity: Pick<Identity, 'adoption'>) =>
    buildStatusReport(buildHealthyCluster(), spec, identity).summary
  expect(read({ adoption })).toMatchObject({ adoption: { from: 'rke1', observed } })
  expect(read({ adoption: { ...adoption, committed: observed } })).not.toHaveProperty('adoption')
  expect(read({})).not.toHaveProperty('adoption')
})

test('a host is healthy if its components and its agent are', () => {
  expect(listHostStatuses(buildHealthyCluster()).every(isHostHealthy)).toBe(true)
  const withoutAgent = changeHost(buildHealthyCluster(), 'w1', (host) => ({
    ...host,
    agent: { state: 'unreachable', reason: 'no answer within 8.0 s' },
  }))
  expect(listHostStatuses(withoutAgent).filter((host) => !isHostHealthy(host))).toMatchObject([
    { host: 'w1', agentError: 'no answer within 8.0 s' },
  ])
})

test('a node under disk pressure is ready but unhealthy, and the cluster counts it', () => {
  const observation = withNodeCondition(
    buildHealthyCluster(1, 1),
    'DiskPressure',
    'node.kubernetes.io/disk-pressure',
    'w1',
  )
  const [first, second] = listHostStatuses(observation)
  expect(first && isHostHealthy(first)).toBe(true)
  expect(second && isHostHealthy(second)).toBe(false)
  expect(second?.node).toEqual({
    healthy: false,
    ready: true,
    conditions: ['disk pressure'],
    reason:
      'disk pressure, kubelet has DiskPressure, and it accepts no new pods (taint node.kubernetes.io/disk-pressure:NoSchedule)',
  })
  const { nodes, nodeConditions } = summarizeClusterStatus(observation, { kubernetes: '1.37' })
  expect(nodes).toEqual({ healthy: 2, total: 2 })
  expect(nodeConditions).toEqual([{ condition: 'disk pressure', nodes: ['w1'] }])
})

test('a blocked component is unhealthy, a healing one is not', () => {
  const areHealthy = (state: 'blocked' | 'healing'): boolean[] =>
    listHostStatuses(withComponent(buildHealthyCluster(1, 0), 'cp1', 'kubelet', { state })).map(isHostHealthy)
  expect([areHealthy('blocked'), areHealthy('healing')]).toEqual([[false], [true]])
})

test('the cluster status has counts, the leader and recent actions', () => {
  const buildAction = (at: string): HealAction => ({
    at,
    component: 'kubelet',
    action: 'restart',
    because: 'it did not answer',
    outcome: 'done',
    details: [],
  })
  const times = Array.from({ length: 8 }, (_, at) => `2026-11-15T11:0${at}:00.000Z`)
  const observation = ['w1', 'w2'].reduce(
    (previous, host) =>
      withHealth(previous, host, (health) => ({
        ...health,
        actions: times.map(buildAction).toReversed(),
        paused: { until: '2026-11-15T13:00:00.000Z', by: 'ana' },
      })),
    withLostHosts(buildHealthyCluster(), 'cp3'),
  )
  const status = summarizeClusterStatus(observation, { kubernetes: '1.37' })
  expect(status).toMatchObject({
    hosts: { healthy: 4, total: 5 },
    nodes: { healthy: 4, total: 5 },
    api: { healthy: 2, total: 3 },
    etcd: { healthy: 2, total: 3, quorum: true, alarms: [] },
    paused: [
      { host: 'w1', by: 'ana' },
      { host: 'w2', by: 'ana' },
    ],
  })
  expect(status.actions).toHaveLength(10)
  expect(status.actions.map(({ at }) => at)).toEqual(
    status.actions
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  )
})
