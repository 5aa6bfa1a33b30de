import { expect, test } from 'vitest'
import { clusterWith, planInput } from '../../plan/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import { placesIn, placesOf } from '../places.ts'
import { serviceNames, serviceOf } from './services.ts'
import { isWell, statusOf } from './status.ts'

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

const active = async () => ({
  version: '1',
  services: [{ name: 'etcd', state: 'active' as const, restarts: 0 }],
})
const observer = {
  etcdWell: async () => undefined,
  apiReady: async () => undefined,
  inside: async () => undefined,
}
const trial = async (): Promise<undefined> => undefined

test('what cannot be asked is not well, and why is said; the others are told of all the same', async () => {
  const [first, , last] = await statusOf({
    places: placesIn(cluster),
    observer,
    trial,
    services: async ({ host }) => (host === 'cp1' ? Promise.reject(new Error('nobody answers')) : active()),
  })
  expect(first).toMatchObject({ away: 'nobody answers', api: { well: true } })
  expect(first && isWell(first)).toBe(false)
  expect(last).toMatchObject({ away: undefined, node: { well: false, reason: 'no API server answers' } })
})

test('a host is well when all of it is', async () => {
  const [, member] = await statusOf({ places: placesIn(cluster), observer, trial, services: active })
  expect(member && isWell(member)).toBe(true)
})
