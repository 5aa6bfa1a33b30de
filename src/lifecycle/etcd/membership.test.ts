import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { EtcdClient } from '../../etcd/client.ts'
import { type FakeEtcd, fakeEtcd } from '../../etcd/testing/fake-etcd.ts'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import { joinEtcd, promoteLearner, releaseEtcdLeadership, removeEtcdMember } from './membership.ts'

let ca: TestCa
let stack: AsyncDisposableStack

beforeAll(async () => {
  ca = await createTestCa()
})
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(async () => stack.disposeAsync())

function clientFor({ servers }: FakeEtcd): EtcdClient {
  return stack.use(
    new EtcdClient({
      endpoints: servers.map(({ url }) => url),
      ca: ca.certificate,
      credentials: ca.client,
      signal: new AbortController().signal,
    }),
  )
}

function waitOptions(reasons: string[], timeoutMs = 60_000) {
  return {
    waiting: (reason: string) => void reasons.push(reason),
    timeoutMs,
    now: () => new Date(),
    signal: new AbortController().signal,
  }
}

test('a host that is already an etcd member is not added again, and all members are returned', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b' }, { id: 'c', learner: true })
  const members = await joinEtcd(clientFor(etcd), { name: 'cp3', address: 'c' }, waitOptions([]))
  expect(members).toEqual([
    { name: 'host-a', address: 'a' },
    { name: 'host-b', address: 'b' },
    { name: 'cp3', address: 'c' },
  ])
  expect(etcd.changes).toEqual([])
})

test('no host joins while a member is unreachable, and the timeout names it', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b' }, { id: 'c', unreachable: true })
  const reasons: string[] = []
  await expect(
    joinEtcd(clientFor(etcd), { name: 'cp4', address: 'd' }, waitOptions(reasons, 1)),
  ).rejects.toMatchObject({ code: 'ETCD_LEARNER_STUCK', message: expect.stringContaining('host-c') })
  expect(etcd.changes).toEqual([])
})

test('a learner that is not promoted in time is removed', async () => {
  const etcd = await fakeEtcd(
    ca,
    stack,
    { id: 'a' },
    { id: 'b', unreachable: true },
    { id: 'c', learner: true },
    { id: 'd' },
  )
  await expect(
    promoteLearner(clientFor(etcd), { name: 'cp3', address: 'c' }, waitOptions([], 1)),
  ).rejects.toMatchObject({ code: 'ETCD_LEARNER_STUCK' })
  expect(etcd.changes).toEqual([expect.stringContaining('remove {"ID":"12"}')])
})

test('an etcd leader transfers leadership before its removal', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b' }, { id: 'c' })
  const client = clientFor(etcd)
  await removeEtcdMember(client, 'a')
  expect(etcd.changes.map((change) => change.split(' ')[0])).toEqual(['transfer-leadership', 'remove'])
  await removeEtcdMember(client, 'unknown')
  expect(etcd.changes).toHaveLength(2)
})

test('a leader that is about to restart transfers leadership to a ready voter', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b', learner: true }, { id: 'c' })
  const client = clientFor(etcd)
  await releaseEtcdLeadership(client, 'c')
  expect(etcd.changes).toEqual([])
  await releaseEtcdLeadership(client, 'a')
  expect(etcd.changes).toEqual(['transfer-leadership {"targetID":"12"} at a'])
})

test('a leader without another ready voter keeps leadership', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b', learner: true })
  await releaseEtcdLeadership(clientFor(etcd), 'a')
  expect(etcd.changes).toEqual([])
})
