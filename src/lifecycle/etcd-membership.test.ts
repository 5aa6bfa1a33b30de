import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { EtcdClient } from '../etcd/client.ts'
import { type FakeEtcd, fakeEtcd } from '../etcd/testing/fake-etcd.ts'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { joinEtcd, leaveEtcd, promote } from './etcd-membership.ts'

let authority: TestAuthority
let stack: AsyncDisposableStack

beforeAll(async () => {
  authority = await testAuthority()
})
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(async () => stack.disposeAsync())

function clientFor({ servers }: FakeEtcd): EtcdClient {
  return stack.use(
    new EtcdClient({
      endpoints: servers.map(({ url }) => url),
      authority: authority.certificate,
      credentials: authority.client,
      signal: new AbortController().signal,
    }),
  )
}

function patience(said: string[], within = 60_000) {
  return {
    waiting: (reason: string) => void said.push(reason),
    within,
    now: () => new Date(),
    signal: new AbortController().signal,
  }
}

test('a host that has a place already gets no second one, and learns of all members', async () => {
  const etcd = await fakeEtcd(authority, stack, { id: 'a' }, { id: 'b' }, { id: 'c', learner: true })
  const members = await joinEtcd(clientFor(etcd), { name: 'cp3', address: 'c' }, patience([]))
  expect(members).toEqual([
    { name: 'host-a', address: 'a' },
    { name: 'host-b', address: 'b' },
    { name: 'cp3', address: 'c' },
  ])
  expect(etcd.changes).toEqual([])
})

test('nobody joins while a member is away; when that stays so, it says why', async () => {
  const etcd = await fakeEtcd(authority, stack, { id: 'a' }, { id: 'b' }, { id: 'c', away: true })
  const said: string[] = []
  await expect(
    joinEtcd(clientFor(etcd), { name: 'cp4', address: 'd' }, patience(said, 1)),
  ).rejects.toMatchObject({ code: 'ETCD_LEARNER_STUCK', message: expect.stringContaining('host-c') })
  expect(etcd.changes).toEqual([])
})

test('one that does not catch up in time is taken out again', async () => {
  const etcd = await fakeEtcd(
    authority,
    stack,
    { id: 'a' },
    { id: 'b', away: true },
    { id: 'c', learner: true },
    { id: 'd' },
  )
  await expect(
    promote(clientFor(etcd), { name: 'cp3', address: 'c' }, patience([], 1)),
  ).rejects.toMatchObject({ code: 'ETCD_LEARNER_STUCK' })
  expect(etcd.changes).toEqual([expect.stringContaining('remove {"ID":"12"}')])
})

test('who leads hands over before it leaves', async () => {
  const etcd = await fakeEtcd(authority, stack, { id: 'a' }, { id: 'b' }, { id: 'c' })
  const client = clientFor(etcd)
  await leaveEtcd(client, 'a')
  expect(etcd.changes.map((change) => change.split(' ')[0])).toEqual(['transfer-leadership', 'remove'])
  await leaveEtcd(client, 'nobody')
  expect(etcd.changes).toHaveLength(2)
})
