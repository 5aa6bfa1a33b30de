import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { EtcdClient } from '../../etcd/client.ts'
import { type FakeEtcd, fakeEtcd } from '../../etcd/testing/fake-etcd.ts'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import {
  isMemberOf,
  joinEtcd,
  prepareEtcdUpgrade,
  promoteLearner,
  releaseEtcdLeadership,
  removeEtcdMember,
} from './membership.ts'

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

/** A host of the fake etcd, whose members have peer URLs with their ids. */
const memberHost = (id: string) => ({ name: `name-of-${id}`, address: id })

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
  await removeEtcdMember(client, memberHost('a'))
  expect(etcd.changes.map((change) => change.split(' ')[0])).toEqual(['transfer-leadership', 'remove'])
  await removeEtcdMember(client, memberHost('unknown'))
  expect(etcd.changes).toHaveLength(2)
})

test('a leader that is about to restart transfers leadership to a ready voter', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b', learner: true }, { id: 'c' })
  const client = clientFor(etcd)
  await releaseEtcdLeadership(client, memberHost('c'))
  expect(etcd.changes).toEqual([])
  await releaseEtcdLeadership(client, memberHost('a'))
  expect(etcd.changes).toEqual(['transfer-leadership {"targetID":"12"} at a'])
})

test('a leader without another ready voter keeps leadership', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b', learner: true })
  await releaseEtcdLeadership(clientFor(etcd), memberHost('a'))
  expect(etcd.changes).toEqual([])
})

const version36 = '3.6.16'

test('before an upgrade to etcd 3.7 all members save a raft snapshot once', async () => {
  const members = ['a', 'b', 'c'].map((id) => ({ id, version: version36 }))
  const etcd = await fakeEtcd(ca, stack, ...members)
  const [client, saved, reasons]: [EtcdClient, Set<string>, string[]] = [clientFor(etcd), new Set(), []]
  for (const address of ['a', 'b', 'c'])
    await prepareEtcdUpgrade(
      client,
      { ...memberHost(address), version: '3.7.3', canReturn: false },
      saved,
      waitOptions(reasons),
    )
  expect(etcd.countDeletions()).toBe(3000)
  expect(saved).toEqual(new Set(['a', 'b', 'c']))
  expect(reasons).toEqual(['etcd saves a raft snapshot'])
})

test('the writes for a raft snapshot reuse eight connections', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a', version: version36 })
  await prepareEtcdUpgrade(
    clientFor(etcd),
    { ...memberHost('a'), version: '3.7.3', canReturn: false },
    new Set(),
    waitOptions([]),
  )
  const connections = new Set(etcd.servers.flatMap(({ requests }) => requests.map((one) => one.connection)))
  expect(connections.size).toBeLessThan(12)
})

test('an upgrade fails if etcd becomes unreachable before the raft snapshot', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a', version: version36 })
  const stopEtcd = { waiting: () => etcd.stop('a') }
  const upgrade = prepareEtcdUpgrade(
    clientFor(etcd),
    { ...memberHost('a'), version: '3.7.3', canReturn: false },
    new Set(),
    {
      ...waitOptions([]),
      ...stopEtcd,
    },
  )
  await expect(upgrade).rejects.toMatchObject({ code: 'ETCD_UNREACHABLE' })
})

test('a member that was unreachable saves its own raft snapshot later', async () => {
  const others = { unreachable: true, version: version36 }
  const etcd = await fakeEtcd(
    ca,
    stack,
    { id: 'a', version: version36 },
    { id: 'b', version: version36 },
    { id: 'c', ...others },
  )
  const saved = new Set<string>()
  await prepareEtcdUpgrade(
    clientFor(etcd),
    { ...memberHost('a'), version: '3.7.3', canReturn: false },
    saved,
    waitOptions([]),
  )
  expect(saved).toEqual(new Set(['a', 'b']))
})

test.each([
  ['3.6.16', '3.6.17'],
  ['3.5.35', '3.6.16'],
  ['3.7.3', '3.7.4'],
])('an upgrade from etcd %s to %s needs no raft snapshot', async (current, version) => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a', version: current })
  await prepareEtcdUpgrade(
    clientFor(etcd),
    { ...memberHost('a'), version, canReturn: false },
    new Set(),
    waitOptions([]),
  )
  expect(etcd.countDeletions()).toBe(0)
})

test('a host that can return to another tool keeps the minor of etcd', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a', version: '3.5.35' })
  const prepare = async (version: string): Promise<void> =>
    prepareEtcdUpgrade(
      clientFor(etcd),
      { ...memberHost('a'), version, canReturn: true },
      new Set(),
      waitOptions([]),
    )
  await expect(prepare('3.6.16')).rejects.toMatchObject({
    code: 'ADOPT_ETCD_VERSION',
    hint: expect.stringContaining('cluster.lock'),
  })
  await expect(prepare('3.5.36')).resolves.toBeUndefined()
})

test('the address of a host decides which member it has; its name only without a known address', () => {
  const member = { name: 'cp1', peerUrls: ['https://10.0.0.1:2380'] }
  expect(isMemberOf({ name: 'other', address: '10.0.0.1' })(member)).toBe(true)
  expect(isMemberOf({ name: 'cp1', address: '10.0.0.2' })(member)).toBe(false)
  expect(isMemberOf({ name: 'cp1', address: undefined })(member)).toBe(true)
  expect(isMemberOf({ name: 'cp2', address: undefined })(member)).toBe(false)
})
