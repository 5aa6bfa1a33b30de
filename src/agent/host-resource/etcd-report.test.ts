import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { hostStatus } from '../../contract/host-resource.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import { EtcdClient } from '../../etcd/client.ts'
import { fakeEtcd, type FakeMember } from '../../etcd/testing/fake-etcd.ts'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import { createEtcdReporter } from './etcd-report.ts'

let ca: TestCa
let stack: AsyncDisposableStack
beforeAll(async () => {
  ca = await createTestCa()
})
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(async () => stack.disposeAsync())

const never = new AbortController().signal

async function setUpReporter(...members: readonly FakeMember[]) {
  const etcd = await fakeEtcd(ca, stack, ...members)
  const endpoint = etcd.servers[0]?.url ?? ''
  const { certificate, client: credentials } = ca
  const client = stack.use(
    new EtcdClient({ endpoints: [endpoint], ca: certificate, credentials, signal: never }),
  )
  const clock = { time: Date.UTC(2027, 0, 1), now: () => new Date(clock.time) }
  const local = { client, endpoint, component: buildComponent({ name: 'etcd' }) }
  const snapshots = [{ name: 'a.db', takenAt: clock.now().toISOString(), size: 1 }]
  const readReport = createEtcdReporter({
    member: async () => local,
    snapshots: { list: async () => snapshots },
    clock,
  })
  return { etcd, clock, readReport, requestCount: () => etcd.servers[0]?.requests.length ?? 0 }
}

test('a member reports its status, size in MiB and members, and is queried every 30 seconds', async () => {
  const { clock, readReport, requestCount } = await setUpReporter(
    { id: 'a', database: Buffer.alloc(3 * 2 ** 19) },
    { id: 'b' },
  )
  const report = await readReport(never)
  expect(report.etcd).toEqual({
    ...{ id: 'a', leader: 'a', learner: false, ready: true, version: '3.7.3' },
    ...{ size: 2 * 2 ** 20, inUse: 0, alarms: [] },
    members: [
      { id: 'a', name: 'host-a', learner: false },
      { id: 'b', name: 'host-b', learner: false },
    ],
  })
  expect(report.snapshots).toMatchObject([{ name: 'a.db' }])
  expect(hostStatus.parse(report)).toEqual(report)
  const before = requestCount()
  clock.time += 29_000
  await readReport(never)
  expect(requestCount()).toBe(before)
  clock.time += 1000
  await readReport(never)
  expect(requestCount()).toBeGreaterThan(before)
})

test('a member that stops responding is reported as not ready, with its last status', async () => {
  const { etcd, clock, readReport } = await setUpReporter({ id: 'a' }, { id: 'b' })
  const before = await readReport(never)
  etcd.stop('a')
  clock.time += 60_000
  const { leader: _leader, ...rest } = before.etcd ?? {}
  expect((await readReport(never)).etcd).toEqual({ ...rest, ready: false })
})

test('a member that never responded is not reported, but its snapshots are', async () => {
  const { readReport } = await setUpReporter({ id: 'a', unreachable: true })
  expect(await readReport(never)).toEqual({ snapshots: [expect.objectContaining({ name: 'a.db' })] })
})

test('a host without a member reports nothing about etcd', async () => {
  const clock = { now: () => new Date() }
  const readReport = createEtcdReporter({
    member: async () => undefined,
    snapshots: { list: async () => [] },
    clock,
  })
  expect(await readReport(never)).toEqual({})
})
