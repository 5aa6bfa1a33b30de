import { connect } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { startHttpsTestServer } from '../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import type { Dial } from '../kit/tunnel.ts'
import {
  memberAddLearner,
  memberDefragment,
  memberPromote,
  memberRemove,
  transferLeadership,
} from './changes.ts'
import { EtcdClient } from './client.ts'
import type { EtcdObservation } from './member.ts'
import { observeEtcd } from './observe.ts'
import { memberListResponse } from './wire.ts'
import { type FakeEtcd, fakeEtcd } from './testing/fake-etcd.ts'
import { buildEtcdObservation } from './testing/fixtures.ts'

let ca: TestCa
let stack = new AsyncDisposableStack()

beforeAll(async () => {
  ca = await createTestCa()
})
afterEach(async () => {
  const used = stack
  stack = new AsyncDisposableStack()
  await used.disposeAsync()
})

function createClient(...endpoints: string[]): EtcdClient {
  const { signal } = new AbortController()
  return stack.use(new EtcdClient({ endpoints, ca: ca.certificate, credentials: ca.client, signal }))
}

function clientFor({ servers }: FakeEtcd): EtcdClient {
  return createClient(...servers.map(({ url }) => url))
}

describe('an observation', () => {
  test('has all members with their health and the status of reachable members', async () => {
    const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b', unreachable: true }, { id: 'c' })
    const observed = await observeEtcd(clientFor(etcd))
    expect(observed).toMatchObject({ clusterId: '3', confirmed: true, alarms: [] })
    expect(observed.members.map(({ id, name }) => [id, name])).toEqual([
      ['a', 'host-a'],
      ['b', 'host-b'],
      ['c', 'host-c'],
    ])
    expect([...observed.health].map(([id, { ready }]) => [id, ready])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ])
    expect([...observed.statuses.keys()]).toEqual(['a', 'c'])
  })

  test('uses one connection per member if no more are allowed, and reads the health last', async () => {
    const { servers } = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b' })
    const { signal } = new AbortController()
    const endpoints = servers.map(({ url }) => url)
    const options = { endpoints, ca: ca.certificate, credentials: ca.client, signal, maxConnections: 1 }
    const { statuses, alarms } = await observeEtcd(stack.use(new EtcdClient(options)))
    expect([[...statuses.keys()], alarms]).toEqual([['a', 'b'], []])
    for (const { requests } of servers) {
      expect(new Set(requests.map(({ connection }) => connection))).toEqual(new Set([1]))
      const paths = requests.map(({ path }) => path)
      expect(paths.indexOf('/v3/maintenance/status')).toBeLessThan(paths.indexOf('/readyz'))
    }
  })

  test('is unconfirmed without a quorum', async () => {
    const observed = await observeEtcd(
      clientFor(await fakeEtcd(ca, stack, { id: 'a', unreachable: true }, { id: 'b' })),
    )
    expect(observed.confirmed).toBe(false)
    expect(observed.health.get('b')).toEqual({
      live: true,
      ready: false,
      failing: ['linearizable_read'],
      reason: 'linearizable_read: etcdserver: no leader',
    })
  })

  test('a corruption alarm makes only its own member unready', async () => {
    const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b', corrupt: true }, { id: 'c' })
    const { alarms, health } = await observeEtcd(clientFor(etcd))
    expect(alarms).toEqual([{ memberId: 'b', alarm: 'CORRUPT' }])
    expect([...health].map(([id, { ready, failing }]) => [id, ready, ...failing])).toEqual([
      ['a', true],
      ['b', false, 'data_corruption'],
      ['c', true],
    ])
    const unknown = await fakeEtcd(ca, stack, { id: 'a', corrupt: 'unknown' }, { id: 'b' })
    const observed = await observeEtcd(clientFor(unknown))
    expect([...observed.health.values()].map(({ ready }) => ready)).toEqual([false, false])
  })

  test('fails if no member responds', async () => {
    const etcd = await fakeEtcd(ca, stack, { id: 'a', unreachable: true }, { id: 'b', unreachable: true })
    await expect(observeEtcd(clientFor(etcd))).rejects.toMatchObject({ code: 'ETCD_UNREACHABLE' })
  })
})

test('an untrusted server is ETCD_UNTRUSTED', async () => {
  const server = stack.use(await startHttpsTestServer(await createTestCa(), () => ({ json: {} })))
  await expect(createClient(server.url).members()).rejects.toMatchObject({ code: 'ETCD_UNTRUSTED' })
})

test('a client with a custom dial tries the next member if the first refuses', async () => {
  const etcd = await fakeEtcd(ca, stack, { id: 'a' })
  const endpoints = ['https://10.255.255.1:2379', ...etcd.servers.map(({ url }) => url)]
  const dialled: string[] = []
  const dial: Dial = async (host, port) => {
    dialled.push(host)
    if (host !== '127.0.0.1') throw new HyperkubeError('SSH_DIAL_REFUSED', 'nothing listens there')
    return connect({ host, port })
  }
  const { certificate, client: credentials } = ca
  const { signal } = new AbortController()
  const client = stack.use(new EtcdClient({ endpoints, ca: certificate, credentials, signal, dial }))
  expect((await client.members()).members.map(({ id }) => id)).toEqual(['a'])
  expect(dialled).toEqual(['10.255.255.1', '127.0.0.1'])
  expect(await client.health('https://10.255.255.1:2379')).toMatchObject({
    ready: false,
    reason: expect.stringMatching(/: no connection$/),
  })
})

test('an abort ends an observation with its own reason', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const server = stack.use(
    await startHttpsTestServer(ca, () => {
      controller.abort(reason)
      return { silent: true }
    }),
  )
  await expect(observeEtcd(createClient(server.url), { signal: controller.signal })).rejects.toBe(reason)
})

describe('member changes', () => {
  const three = async (): Promise<FakeEtcd> => fakeEtcd(ca, stack, { id: 'a' }, { id: 'b' }, { id: 'c' })

  test('a learner is added', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const member = await memberAddLearner(client, await observeEtcd(client), 'https://new:2380')
    expect(member).toMatchObject({ id: 'ff', learner: true })
    expect(etcd.changes).toEqual(['add {"peerURLs":["https://new:2380"],"isLearner":true} at a'])
  })

  test('an existing member is not added again', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const member = await memberAddLearner(client, await observeEtcd(client), 'https://b:2380')
    expect(member.id).toBe('b')
    expect(etcd.changes).toEqual([])
  })

  test.each([
    ['while another member is a learner', { id: 'c', learner: true }, 'ETCD_LEARNER'],
    ['while a member is unreachable', { id: 'c', unreachable: true }, 'ETCD_QUORUM'],
  ])('no member is added %s', async (_, third, code) => {
    const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b' }, third)
    const client = clientFor(etcd)
    await expect(
      memberAddLearner(client, await observeEtcd(client), 'https://new:2380'),
    ).rejects.toMatchObject({
      code,
    })
    expect(etcd.changes).toEqual([])
  })

  test('a learner is promoted through a voter, and a voter is not promoted again', async () => {
    const etcd = await fakeEtcd(ca, stack, { id: 'c', learner: true }, { id: 'a' }, { id: 'b' })
    const client = clientFor(etcd)
    await memberPromote(client, await observeEtcd(client), 'host-c')
    await memberPromote(client, await observeEtcd(client), 'host-a')
    expect(etcd.changes).toEqual(['promote {"ID":"12"} at a'])
  })

  test('a member is removed', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    await memberRemove(client, await observeEtcd(client), 'host-b')
    expect(etcd.changes).toEqual(['remove {"ID":"11"} at a'])
  })

  test('a member with a corruption alarm is removed, and its alarm ends', async () => {
    const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b', corrupt: true }, { id: 'c' })
    const client = clientFor(etcd)
    await expect(memberRemove(client, await observeEtcd(client), 'host-a')).rejects.toMatchObject({
      code: 'ETCD_QUORUM',
    })
    await memberRemove(client, await observeEtcd(client), 'host-b')
    expect(etcd.changes).toEqual(['remove {"ID":"11"} at a', 'disarm 11'])
  })

  test('before a member joins, alarms of members that were removed end', async () => {
    const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b' }, { id: 'c', corrupt: true })
    const client = clientFor(etcd)
    etcd.removeMember('c')
    await memberAddLearner(client, await observeEtcd(client), 'https://new:2380')
    expect(etcd.changes).toEqual(['disarm 12', expect.stringMatching(/^add /)])
  })

  test('a member that the quorum needs is not removed, even if an older observation allowed its removal', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const observed = await observeEtcd(client)
    etcd.stop('c')
    await expect(memberRemove(client, observed, 'host-b')).rejects.toMatchObject({ code: 'ETCD_QUORUM' })
    expect(etcd.changes).toEqual([])
    await memberRemove(client, observed, 'host-c')
    expect(etcd.changes).toEqual(['remove {"ID":"12"} at a'])
  })

  test('a change based on an unconfirmed or outdated observation is refused', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const observed = await observeEtcd(client)
    const others: [EtcdObservation, string][] = [
      [{ ...observed, confirmed: false }, 'ETCD_MEMBERS_UNKNOWN'],
      [{ ...observed, clusterId: '4' }, 'ETCD_MEMBERS_CHANGED'],
      [buildEtcdObservation({ x: {} }, { clusterId: '3' }), 'ETCD_MEMBERS_CHANGED'],
    ]
    for (const [previous, code] of others) {
      await expect(memberRemove(client, previous, 'host-b')).rejects.toMatchObject({ code })
      await expect(memberPromote(client, previous, 'host-b')).rejects.toMatchObject({ code })
    }
    expect(etcd.changes).toEqual([])
  })

  test('removing a member that is already removed changes nothing', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const observed = await observeEtcd(client)
    etcd.removeMember('c')
    expect((await memberRemove(client, observed, 'host-c')).members).toHaveLength(2)
    expect(etcd.changes).toEqual([])
  })

  test('the leader transfers leadership to a voter once', async () => {
    const etcd = await three()
    const client = createClient(etcd.servers[2]?.url ?? '')
    const observed = await observeEtcd(client)
    expect(await transferLeadership(client, observed, 'host-b')).toBe(true)
    expect(await transferLeadership(client, observed, 'host-a')).toBe(false)
    expect(etcd.changes).toEqual(['transfer-leadership {"targetID":"11"} at a'])
  })

  test('a member is defragmented if the other members have a quorum, or if it is the only member', async () => {
    const etcd = await three()
    const endpoint = etcd.servers[1]?.url ?? ''
    const client = createClient(endpoint)
    await memberDefragment(client, endpoint)
    expect(etcd.changes).toEqual(['defragment {} at b'])
    etcd.stop('c')
    await expect(memberDefragment(client, endpoint)).rejects.toMatchObject({ code: 'ETCD_QUORUM' })
    expect(etcd.changes).toHaveLength(1)
    const single = await fakeEtcd(ca, stack, { id: 'a' })
    await memberDefragment(clientFor(single), single.servers[0]?.url ?? '')
    expect(single.changes).toEqual(['defragment {} at a'])
  })

  test.each(['rpc not supported for learner', 'unhealthy cluster'])(
    'a change that etcd refused with "%s" is sent to the next endpoint',
    async (reason) => {
      const etcd = await three()
      const refusing = stack.use(
        await startHttpsTestServer(ca, () => ({
          status: 503,
          json: { code: 14, message: `etcdserver: ${reason}` },
        })),
      )
      const client = createClient(refusing.url, etcd.servers[0]?.url ?? '')
      await client.change('cluster/member/remove', { ID: '1' }, memberListResponse)
      expect(etcd.changes).toEqual(['remove {"ID":"1"} at a'])
    },
  )

  test('a change that may have been applied is not sent to the next endpoint', async () => {
    const etcd = await three()
    const cut = stack.use(await startHttpsTestServer(ca, () => ({ cut: 'before' })))
    const client = createClient(cut.url, ...etcd.servers.map(({ url }) => url))
    await expect(
      client.change('cluster/member/remove', { ID: '1' }, memberListResponse),
    ).rejects.toMatchObject({ code: 'ETCD_UNREACHABLE', sent: true })
    expect(cut.requests).toHaveLength(1)
    expect(etcd.changes).toEqual([])
  })
})
