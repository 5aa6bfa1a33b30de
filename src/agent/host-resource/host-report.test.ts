import { afterEach, beforeEach, expect, test } from 'vitest'
import { hostStatus } from '../../contract/host-resource.ts'
import type { HealAction, HostHealth } from '../../contract/health.ts'
import { watchPlan } from '../heal/watch-plan.ts'
import { TestCluster } from '../renewal/testing/renewal-cluster.ts'
import { renewOwn } from '../renewal/renew-local.ts'
import { knownCertificates } from './host-certificates.ts'
import { healthTold, toldOf } from './host-report.ts'

const never = new AbortController().signal
const since = '2027-01-01T00:00:00.000Z'
const later = '2027-01-01T00:00:15.000Z'

const action: HealAction = {
  ...{ at: since, component: 'etcd', action: 'restart', because: 'b', outcome: 'done' },
  details: ['a log that fills the object'],
}

function healthAt(at: string, seen: string): HostHealth {
  return {
    ...{ at, ladder: 'usual', budget: { spent: 0, most: 1, within: 1 } },
    components: [
      { component: 'etcd', state: 'held', since: at, because: seen, code: 'X', drift: [] },
      { component: 'kubelet', state: 'well', since: at, drift: [] },
    ],
    probes: [
      {
        component: 'etcd',
        probe: 'disk',
        scope: 'remote',
        state: 'failing',
        since: at,
        seen,
        code: 'DISK_SLOW',
      },
      { component: 'etcd', probe: 'livez', scope: 'local', state: 'shaky', since: at, seen: 'once' },
    ],
    actions: Array.from({ length: 20 }, () => action),
  }
}

let cluster: TestCluster
beforeEach(async () => {
  cluster = await TestCluster.make()
})
afterEach(async () => cluster[Symbol.asyncDispose]())

test('what is told fits the object, and is short', () => {
  const told = healthTold(healthAt(since, 'took 160 ms'))
  expect(hostStatus.parse(told)).toEqual(told)
  expect(told.failing?.map(({ probe }) => probe)).toEqual(['disk'])
  expect(told.actions).toHaveLength(10)
  expect(told.actions?.[0]).toEqual({ at: since, component: 'etcd', action: 'restart', because: 'b' })
  expect(told.components?.[1]).toEqual({ component: 'kubelet', state: 'well', since })
  const paused = healthTold({ ...healthAt(since, ''), paused: { until: later, by: 'ana' } })
  expect(paused.idle).toBe(`healing is paused by ana until ${later}`)
})

test('another number of milliseconds is no news; other words are', async () => {
  let health = healthAt(since, 'took 160 ms')
  const tell = toldOf({
    version: '1.0.0',
    healer: { health: async () => health },
    certificates: async () => [],
    member: async () => ({}),
  })
  const first = await tell(never)
  health = healthAt(later, 'took 171 ms')
  expect(await tell(never)).toEqual(first)
  health = healthAt(later, 'no answer')
  expect((await tell(never)).failing).toMatchObject([{ seen: 'no answer', since: later }])
})

test('certificates of the plan, with when they are renewed; read again when they were', async () => {
  const { host, scene, wishes } = await cluster.agent('cp1', 'control-plane')
  const certificates = knownCertificates(host, watchPlan(host))
  const before = await certificates()
  expect(before.map(({ file }) => file)).toEqual(wishes.map(({ certificateFile }) => certificateFile))
  expect(before.every(({ renewAfter }) => Date.parse(renewAfter) < host.clock.time)).toBe(true)
  expect(await certificates()).toEqual(before)
  await renewOwn(scene)
  const after = await certificates()
  expect(after.every(({ renewAfter }) => Date.parse(renewAfter) > host.clock.time)).toBe(true)
  await host.files.remove(wishes[0]?.certificateFile ?? '')
  expect(await certificates()).toHaveLength(wishes.length - 1)
})
