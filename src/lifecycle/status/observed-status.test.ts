import { expect, test } from 'vitest'
import type { HealAction } from '../../contract/health.ts'
import { clusterWith, planInput } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import { placesIn, placesOf } from '../host-endpoints.ts'
import {
  changeHost,
  healthyLook,
  lost,
  withComponent,
  withHealth,
} from '../observe/testing/cluster-fixtures.ts'
import { serviceNames, serviceOf } from './services.ts'
import { clusterStatus } from './observed-cluster-status.ts'
import { hostStatuses, isWell } from './observed-host-status.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: db1, address: 10.0.0.2, roles: [etcd] }',
  '{ name: w1, address: 10.0.0.3, roles: [worker], nodeName: worker-one }',
)
const { plans } = planCluster(planInput(cluster))

test('the file alone says where programs are, as the plans do', () => {
  expect(placesIn(cluster).toSorted((a, b) => (a.host < b.host ? -1 : 1))).toEqual(placesOf(plans))
})

test('every service of a plan is looked at', () => {
  for (const plan of plans) {
    const [place] = placesOf([plan])
    const planned = plan.components.flatMap(({ service }) => service?.name ?? [])
    expect(place && serviceNames(place).map((name) => `${name}.service`)).toEqual(planned)
  }
})

test('what systemd says of a unit', () => {
  const block = (load: string, active: string): string =>
    `Id=etcd.service\nLoadState=${load}\nActiveState=${active}\nNRestarts=3`
  expect(serviceOf(block('loaded', 'active'))).toEqual({ name: 'etcd', state: 'active', restarts: 3 })
  expect(serviceOf(block('not-found', 'inactive')).state).toBe('missing')
  expect(serviceOf(block('loaded', 'activating')).state).toBe('starting')
  expect(serviceOf(block('loaded', 'inactive')).state).toBe('stopped')
})

test('what cannot be asked is not well, and why is said; the others are told of all the same', () => {
  const look = lost(healthyLook(), 'cp1')
  const [first, second] = hostStatuses({ ...look, nodes: undefined })
  expect(first).toMatchObject({ away: 'connect ETIMEDOUT', etcd: { well: false }, api: { well: false } })
  expect(first && isWell(first)).toBe(false)
  expect(second).toMatchObject({
    away: undefined,
    etcd: { well: true },
    api: { well: true },
    node: { well: false, reason: 'no API server answers' },
  })
})

test('a host is well when all of it is', () => {
  expect(hostStatuses(healthyLook()).every(isWell)).toBe(true)
  const silent = changeHost(healthyLook(), 'w1', (one) => ({
    ...one,
    agent: { state: 'silent', reason: 'no answer within 8.0 s' },
  }))
  expect(hostStatuses(silent).filter((one) => !isWell(one))).toMatchObject([
    { host: 'w1', silent: 'no answer within 8.0 s' },
  ])
})

test('what an agent holds back from is not well; what it waits for is on the mend', () => {
  const held = (state: 'held' | 'healing'): boolean[] =>
    hostStatuses(withComponent(healthyLook(1, 0), 'cp1', 'kubelet', { state })).map(isWell)
  expect([held('held'), held('healing')]).toEqual([[false], [true]])
})

test('the cluster as a whole: shares, who leads, the newest that agents did', () => {
  const acted = (at: string): HealAction => ({
    at,
    component: 'kubelet',
    action: 'restart',
    because: 'it did not answer',
    outcome: 'done',
    details: [],
  })
  const times = Array.from({ length: 8 }, (_, at) => `2026-11-15T11:0${at}:00.000Z`)
  const look = ['w1', 'w2'].reduce(
    (before, host) =>
      withHealth(before, host, (health) => ({
        ...health,
        actions: times.map(acted).toReversed(),
        paused: { until: '2026-11-15T13:00:00.000Z', by: 'ana' },
      })),
    lost(healthyLook(), 'cp3'),
  )
  const status = clusterStatus(look, '1.37', [{ name: 'coredns', ready: true }])
  expect(status).toMatchObject({
    hosts: { well: 4, all: 5 },
    nodes: { well: 4, all: 5 },
    api: { well: 2, all: 3 },
    etcd: { well: 2, all: 3, quorum: true, alarms: [] },
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
