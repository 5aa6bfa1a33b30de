import { connect } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { memberListAnswer } from './responses.ts'
import { memberAddLearner, memberDefragment, memberPromote, memberRemove, moveLeader } from './changes.ts'
import { EtcdClient } from './client.ts'
import { type FakeEtcd, fakeEtcd } from './testing/fake-etcd.ts'
import { observationOf } from './testing/fixtures.ts'
import type { Observation } from './member.ts'
import { observe } from './observe.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Dial } from '../kit/tunnel-agent.ts'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { testServer } from '../kit/testing/https-test-server.ts'

let authority: TestAuthority
let stack = new AsyncDisposableStack()

beforeAll(async () => {
  authority = await testAuthority()
})
afterEach(async () => {
  const used = stack
  stack = new AsyncDisposableStack()
  await used.disposeAsync()
})

function clientOf(...endpoints: string[]): EtcdClient {
  const { signal } = new AbortController()
  return stack.use(
    new EtcdClient({ endpoints, authority: authority.certificate, credentials: authority.client, signal }),
  )
}

function clientFor({ servers }: FakeEtcd): EtcdClient {
  return clientOf(...servers.map(({ url }) => url))
}

describe('an observation', () => {
  test('has all members, with health and status', async () => {
    const etcd = await fakeEtcd(authority, stack, { id: 'a' }, { id: 'b', away: true }, { id: 'c' })
    const observed = await observe(clientFor(etcd))
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

  test('without a quorum is what one member remembers, and says so', async () => {
    const observed = await observe(
      clientFor(await fakeEtcd(authority, stack, { id: 'a', away: true }, { id: 'b' })),
    )
    expect(observed.confirmed).toBe(false)
    expect(observed.health.get('b')).toEqual({
      live: true,
      ready: false,
      failing: ['linearizable_read'],
      reason: 'linearizable_read: etcdserver: no leader',
    })
  })

  test('needs somebody who answers', async () => {
    const etcd = await fakeEtcd(authority, stack, { id: 'a', away: true }, { id: 'b', away: true })
    await expect(observe(clientFor(etcd))).rejects.toMatchObject({ code: 'ETCD_UNREACHABLE' })
  })
})

test('a server that is not of our etcd is told from one that is away', async () => {
  const server = stack.use(await testServer(await testAuthority(), () => ({ json: {} })))
  await expect(clientOf(server.url).members()).rejects.toMatchObject({ code: 'ETCD_UNTRUSTED' })
})

test('by a way of the caller’s the next member is asked when nobody listens at the first', async () => {
  const etcd = await fakeEtcd(authority, stack, { id: 'a' })
  const endpoints = ['https://10.255.255.1:2379', ...etcd.servers.map(({ url }) => url)]
  const dialled: string[] = []
  const dial: Dial = async (host, port) => {
    dialled.push(host)
    if (host !== '127.0.0.1') throw new HyperkubeError('SSH_DIAL_REFUSED', 'nothing listens there')
    return connect({ host, port })
  }
  const { certificate, client: credentials } = authority
  const { signal } = new AbortController()
  const client = stack.use(new EtcdClient({ endpoints, authority: certificate, credentials, signal, dial }))
  expect((await client.members()).members.map(({ id }) => id)).toEqual(['a'])
  expect(dialled).toEqual(['10.255.255.1', '127.0.0.1'])
  expect(await client.health('https://10.255.255.1:2379')).toMatchObject({
    ready: false,
    reason: expect.stringMatching(/: no connection$/),
  })
})

test('an abort ends it with its own reason', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const server = stack.use(
    await testServer(authority, () => {
      controller.abort(reason)
      return { silent: true }
    }),
  )
  await expect(observe(clientOf(server.url), { signal: controller.signal })).rejects.toBe(reason)
})

describe('changes', () => {
  const three = async (): Promise<FakeEtcd> =>
    fakeEtcd(authority, stack, { id: 'a' }, { id: 'b' }, { id: 'c' })

  test('a learner is added', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const member = await memberAddLearner(client, await observe(client), 'https://new:2380')
    expect(member).toMatchObject({ id: 'ff', learner: true })
    expect(etcd.changes).toEqual(['add {"peerURLs":["https://new:2380"],"isLearner":true} at a'])
  })

  test('who is there already is not added again', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const member = await memberAddLearner(client, await observe(client), 'https://b:2380')
    expect(member.id).toBe('b')
    expect(etcd.changes).toEqual([])
  })

  test.each([
    ['while another one learns', { id: 'c', learner: true }, 'ETCD_LEARNER'],
    ['while one is away', { id: 'c', away: true }, 'ETCD_QUORUM'],
  ])('nobody is added %s', async (_, third, code) => {
    const etcd = await fakeEtcd(authority, stack, { id: 'a' }, { id: 'b' }, third)
    const client = clientFor(etcd)
    await expect(memberAddLearner(client, await observe(client), 'https://new:2380')).rejects.toMatchObject({
      code,
    })
    expect(etcd.changes).toEqual([])
  })

  test('a learner becomes a voter, at a member that can do it', async () => {
    const etcd = await fakeEtcd(authority, stack, { id: 'c', learner: true }, { id: 'a' }, { id: 'b' })
    const client = clientFor(etcd)
    await memberPromote(client, await observe(client), 'host-c')
    await memberPromote(client, await observe(client), 'host-a')
    expect(etcd.changes).toEqual(['promote {"ID":"12"} at a'])
  })

  test('a member is removed', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    await memberRemove(client, await observe(client), 'host-b')
    expect(etcd.changes).toEqual(['remove {"ID":"11"} at a'])
  })

  test('nobody is removed whom the others need, also when that was otherwise a moment ago', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const observed = await observe(client)
    etcd.stop('c')
    await expect(memberRemove(client, observed, 'host-b')).rejects.toMatchObject({ code: 'ETCD_QUORUM' })
    expect(etcd.changes).toEqual([])
    await memberRemove(client, observed, 'host-c')
    expect(etcd.changes).toEqual(['remove {"ID":"12"} at a'])
  })

  test('nothing is changed that was never seen', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const observed = await observe(client)
    const others: [Observation, string][] = [
      [{ ...observed, confirmed: false }, 'ETCD_MEMBERS_UNKNOWN'],
      [{ ...observed, clusterId: '4' }, 'ETCD_MEMBERS_CHANGED'],
      [observationOf({ x: {} }, { clusterId: '3' }), 'ETCD_MEMBERS_CHANGED'],
    ]
    for (const [seen, code] of others) {
      await expect(memberRemove(client, seen, 'host-b')).rejects.toMatchObject({ code })
      await expect(memberPromote(client, seen, 'host-b')).rejects.toMatchObject({ code })
    }
    expect(etcd.changes).toEqual([])
  })

  test('who is gone already is gone', async () => {
    const etcd = await three()
    const client = clientFor(etcd)
    const observed = await observe(client)
    etcd.forget('c')
    expect((await memberRemove(client, observed, 'host-c')).members).toHaveLength(2)
    expect(etcd.changes).toEqual([])
  })

  test('leadership is handed over by the leader', async () => {
    const etcd = await three()
    const client = clientOf(etcd.servers[2]?.url ?? '')
    const observed = await observe(client)
    expect(await moveLeader(client, observed, 'host-b')).toBe(true)
    expect(await moveLeader(client, observed, 'host-a')).toBe(false)
    expect(etcd.changes).toEqual(['transfer-leadership {"targetID":"11"} at a'])
  })

  test('a member gives back space where the others are enough meanwhile, or where it is alone', async () => {
    const etcd = await three()
    const endpoint = etcd.servers[1]?.url ?? ''
    const client = clientOf(endpoint)
    await memberDefragment(client, endpoint)
    expect(etcd.changes).toEqual(['defragment {} at b'])
    etcd.stop('c')
    await expect(memberDefragment(client, endpoint)).rejects.toMatchObject({ code: 'ETCD_QUORUM' })
    expect(etcd.changes).toHaveLength(1)
    const single = await fakeEtcd(authority, stack, { id: 'a' })
    await memberDefragment(clientFor(single), single.servers[0]?.url ?? '')
    expect(single.changes).toEqual(['defragment {} at a'])
  })

  test.each(['rpc not supported for learner', 'unhealthy cluster'])(
    'what was refused before it was begun may be done by the next one: %s',
    async (words) => {
      const etcd = await three()
      const refusing = stack.use(
        await testServer(authority, () => ({
          status: 503,
          json: { code: 14, message: `etcdserver: ${words}` },
        })),
      )
      const client = clientOf(refusing.url, etcd.servers[0]?.url ?? '')
      await client.change('cluster/member/remove', { ID: '1' }, memberListAnswer)
      expect(etcd.changes).toEqual(['remove {"ID":"1"} at a'])
    },
  )

  test('what may have been done is not tried at the next one', async () => {
    const etcd = await three()
    const cut = stack.use(await testServer(authority, () => ({ cut: 'before' })))
    const client = clientOf(cut.url, ...etcd.servers.map(({ url }) => url))
    await expect(client.change('cluster/member/remove', { ID: '1' }, memberListAnswer)).rejects.toMatchObject(
      { code: 'ETCD_UNREACHABLE', sent: true },
    )
    expect(cut.asked).toHaveLength(1)
    expect(etcd.changes).toEqual([])
  })
})
