import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HealAction, HostHealth } from '../../contract/health.ts'
import { hostStatus } from '../../contract/host-resource.ts'
import { watchPlan } from '../heal/watch-host.ts'
import { renewLocalCertificates } from '../renewal/renew-local.ts'
import { RenewalTestCluster } from '../renewal/testing/renewal-cluster.ts'
import { createCertificateReader } from './host-certificates.ts'
import { createHostReporter, toHealthReport } from './host-report.ts'

const never = new AbortController().signal
const since = '2027-01-01T00:00:00.000Z'
const later = '2027-01-01T00:00:15.000Z'

const action: HealAction = {
  ...{ at: since, component: 'etcd', action: 'restart', because: 'b', outcome: 'done' },
  details: ['a log that fills the object'],
}

function healthAt(at: string, message: string): HostHealth {
  return {
    ...{ at, healPolicy: 'default', budget: { used: 0, max: 1, windowMs: 1 } },
    components: [
      { component: 'etcd', state: 'blocked', since: at, because: message, code: 'X', drift: [] },
      { component: 'kubelet', state: 'healthy', since: at, drift: [] },
    ],
    probes: [
      {
        component: 'etcd',
        probe: 'disk',
        scope: 'remote',
        state: 'unhealthy',
        since: at,
        message,
        code: 'DISK_SLOW',
      },
      { component: 'etcd', probe: 'livez', scope: 'local', state: 'degraded', since: at, message: 'once' },
    ],
    actions: Array.from({ length: 20 }, () => action),
  }
}

let cluster: RenewalTestCluster
beforeEach(async () => {
  cluster = await RenewalTestCluster.create()
})
afterEach(async () => cluster[Symbol.asyncDispose]())

test('the health report matches the schema, and has only failing probes and ten actions', () => {
  const report = toHealthReport(healthAt(since, 'took 160 ms'))
  expect(hostStatus.parse(report)).toEqual(report)
  expect(report.failing?.map(({ probe }) => probe)).toEqual(['disk'])
  expect(report.actions).toHaveLength(10)
  expect(report.actions?.[0]).toEqual({ at: since, component: 'etcd', action: 'restart', because: 'b' })
  expect(report.components?.[1]).toEqual({ component: 'kubelet', state: 'healthy', since })
  const paused = toHealthReport({ ...healthAt(since, ''), paused: { until: later, by: 'ana' } })
  expect(paused.suspended).toBe(`healing is paused by ana until ${later}`)
})

test('a changed number in a message does not change the report; a changed text does', async () => {
  let health = healthAt(since, 'took 160 ms')
  const readReport = createHostReporter({
    version: '1.0.0',
    healer: { health: async () => health },
    certificates: async () => [],
    member: async () => ({}),
  })
  const first = await readReport(never)
  health = healthAt(later, 'took 171 ms')
  expect(await readReport(never)).toEqual(first)
  health = healthAt(later, 'no answer')
  expect((await readReport(never)).failing).toMatchObject([{ message: 'no answer', since: later }])
})

test('certificates of the plan are reported with their renewal time, and read again after a renewal', async () => {
  const { host, deps, planned } = await cluster.createAgent('cp1', 'control-plane')
  const certificates = createCertificateReader(host, watchPlan(host))
  const before = await certificates()
  expect(before.map(({ file }) => file)).toEqual(planned.map(({ certificateFile }) => certificateFile))
  expect(before.every(({ renewAfter }) => Date.parse(renewAfter) < host.clock.time)).toBe(true)
  expect(await certificates()).toEqual(before)
  await renewLocalCertificates(deps)
  const after = await certificates()
  expect(after.every(({ renewAfter }) => Date.parse(renewAfter) > host.clock.time)).toBe(true)
  await host.files.remove(planned[0]?.certificateFile ?? '')
  expect(await certificates()).toHaveLength(planned.length - 1)
})
