import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { hostStatus } from '../../contract/host-resource.ts'
import { componentOf } from '../../diff/testing/fixtures.ts'
import { EtcdClient } from '../../etcd/client.ts'
import { fakeEtcd, type FakeMember } from '../../etcd/testing/fake-etcd.ts'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import { memberTold } from './etcd-report.ts'

let authority: TestAuthority
let stack: AsyncDisposableStack
beforeAll(async () => {
  authority = await testAuthority()
})
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(async () => stack.disposeAsync())

const never = new AbortController().signal

async function stage(...members: readonly FakeMember[]) {
  const etcd = await fakeEtcd(authority, stack, ...members)
  const endpoint = etcd.servers[0]?.url ?? ''
  const { certificate, client: credentials } = authority
  const client = stack.use(
    new EtcdClient({ endpoints: [endpoint], authority: certificate, credentials, signal: never }),
  )
  const clock = { time: Date.UTC(2027, 0, 1), now: () => new Date(clock.time) }
  const own = { client, endpoint, component: componentOf({ name: 'etcd' }) }
  const snapshots = [{ name: 'a.db', taken: clock.now().toISOString(), size: 1 }]
  const tell = memberTold({ member: async () => own, shelf: { list: async () => snapshots }, clock })
  return { etcd, clock, tell, asked: () => etcd.servers[0]?.asked.length ?? 0 }
}

test('what a member says of itself and the others, to the mebibyte, and not asked at every look', async () => {
  const { clock, tell, asked } = await stage({ id: 'a', database: Buffer.alloc(3 * 2 ** 19) }, { id: 'b' })
  const told = await tell(never)
  expect(told.etcd).toEqual({
    ...{ id: 'a', leader: 'a', learner: false, ready: true, version: '3.7.3' },
    ...{ size: 2 * 2 ** 20, inUse: 0, alarms: [] },
    members: [
      { id: 'a', name: 'host-a', learner: false },
      { id: 'b', name: 'host-b', learner: false },
    ],
  })
  expect(told.snapshots).toMatchObject([{ name: 'a.db' }])
  expect(hostStatus.parse(told)).toEqual(told)
  const before = asked()
  clock.time += 29_000
  await tell(never)
  expect(asked()).toBe(before)
  clock.time += 1000
  await tell(never)
  expect(asked()).toBeGreaterThan(before)
})

test('one that has gone silent does not serve, and is known all the same', async () => {
  const { etcd, clock, tell } = await stage({ id: 'a' }, { id: 'b' })
  const before = await tell(never)
  etcd.stop('a')
  clock.time += 60_000
  const { leader: _leader, ...rest } = before.etcd ?? {}
  expect((await tell(never)).etcd).toEqual({ ...rest, ready: false })
})

test('one that never answered is nothing to speak of, and its snapshots are', async () => {
  const { tell } = await stage({ id: 'a', away: true })
  expect(await tell(never)).toEqual({ snapshots: [expect.objectContaining({ name: 'a.db' })] })
})

test('a host without a member says nothing of etcd', async () => {
  const clock = { now: () => new Date() }
  const tell = memberTold({ member: async () => undefined, shelf: { list: async () => [] }, clock })
  expect(await tell(never)).toEqual({})
})
