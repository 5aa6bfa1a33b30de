import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../kit/poll-until.ts'
import { type TestAuthority, testAuthority } from './testing/openssl-test-ca.ts'
import { freePort, health, TestBed } from './testing/proxy-test-bed.ts'

let authority: TestAuthority
let bed: TestBed

beforeAll(async () => {
  authority = await testAuthority()
})
beforeEach(() => {
  bed = new TestBed(authority)
})
afterEach(async () => bed.close())

describe('a new connection', () => {
  test('goes to each of the well in turn', async () => {
    const names = [await bed.apiServer(), await bed.apiServer(), await bed.apiServer()].map(
      ({ name }) => name,
    )
    const proxy = await bed.proxy(bed.settings(names))
    await health(proxy, Object.fromEntries(names.map((name) => [name, 'well'])))
    const client = bed.client(proxy.port)
    const reached = [await client.get(), await client.get(), await client.get()]
    expect(reached.toSorted()).toEqual(names.toSorted())
  })

  test('stays on this host while the server there is well', async () => {
    const [here, there] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([there.name, here.name], { local: here.name }))
    await health(proxy, { [here.name]: 'well', [there.name]: 'well' })
    const client = bed.client(proxy.port)
    for (let time = 0; time < 4; time++) expect(await client.get()).toBe(here.name)
    here.mood = 'unready'
    await health(proxy, { [here.name]: 'unwell' })
    for (let time = 0; time < 4; time++) expect(await client.get()).toBe(there.name)
  })

  test('is served before anybody was asked, whoever is gone', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([await freePort(), await freePort(), server.name]))
    expect(await bed.client(proxy.port).get()).toBe(server.name)
  })

  test('is served by one that is not ready when no other is', async () => {
    const server = await bed.apiServer()
    server.mood = 'unready'
    const proxy = await bed.proxy(bed.settings([server.name]))
    await health(proxy, { [server.name]: 'unwell' })
    expect(await bed.client(proxy.port).get()).toBe(server.name)
  })

  test('never goes to somebody with a certificate of another authority', async () => {
    const stranger = await bed.apiServer(undefined, await testAuthority())
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([stranger.name, server.name]))
    await health(proxy, { [stranger.name]: 'unwell', [server.name]: 'well' })
    const client = bed.client(proxy.port)
    for (let time = 0; time < 4; time++) expect(await client.get()).toBe(server.name)
  })

  test('finds another server when the first one dies before it has said a word', async () => {
    const dying = await bed.plainServer((socket) => socket.once('data', () => socket.destroy()))
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([dying, server.name]))
    const client = bed.client(proxy.port)
    for (let time = 0; time < 4; time++) expect(await client.get()).toBe(server.name)
  })

  test('finds another server when the first one hangs, and says there what it has said', async () => {
    const hanging = await bed.plainServer(() => undefined)
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([hanging, server.name]), { askWithin: 500, hurryWithin: 400 })
    expect(await bed.client(proxy.port).get()).toBe(server.name)
    await health(proxy, { [hanging]: 'unwell' })
  })

  test('ends at once when nobody is there', async () => {
    const proxy = await bed.proxy(bed.settings([await freePort()]))
    await expect(bed.client(proxy.port).get()).rejects.toThrow(/socket|ECONNRESET/)
    expect(proxy.status().unserved).toBe(1)
  })
})

test('a server that tells only those whom it knows is told who asks', async () => {
  const server = await bed.apiServer()
  server.mood = 'strict'
  const proxy = await bed.proxy(bed.settings([server.name]))
  await health(proxy, { [server.name]: 'well' })
  const stranger = await bed.proxy({ ...bed.settings([server.name]), credentials: undefined })
  await until(
    'an answer',
    async () => stranger.status().servers.some(({ reason }) => reason === 'does not tell us: 401'),
    { within: 10_000, every: 5 },
  )
  expect(await bed.client(stranger.port).get()).toBe(server.name)
})

test('without an authority nobody is asked, and everybody served', async () => {
  const server = await bed.apiServer()
  const proxy = await bed.proxy({ ...bed.settings([server.name]), authority: undefined })
  expect(await bed.client(proxy.port).get()).toBe(server.name)
  expect(bed.logged).toEqual(['there is no authority: servers are not asked how they are'])
})

describe('a connection that is there', () => {
  test('is cut when its server falls silent, so that its client can go on elsewhere', async () => {
    const [one, other] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([one.name, other.name], { local: one.name }), {
      askWithin: 500,
      hurryWithin: 400,
    })
    await health(proxy, { [one.name]: 'well', [other.name]: 'well' })
    const client = bed.client(proxy.port, true)
    expect(await client.get()).toBe(one.name)
    one.mood = 'mute'
    await expect(client.get()).rejects.toThrow(/hang up|ECONNRESET/)
    expect(await client.get()).toBe(other.name)
    expect(proxy.status().servers[0]?.totals.cut).toBe(1)
  })

  test('stays with a silent server when there is no other', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([server.name, await freePort()]), {
      askWithin: 500,
      hurryWithin: 400,
    })
    await health(proxy, { [server.name]: 'well' })
    const client = bed.client(proxy.port, true)
    await client.get()
    server.mood = 'mute'
    await health(proxy, { [server.name]: 'unwell' })
    server.mood = 'ready'
    await health(proxy, { [server.name]: 'well' })
    expect(await client.get()).toBe(server.name)
    expect(proxy.status().servers[0]?.totals).toMatchObject({ connections: 1, cut: 0, ended: 0 })
  })

  test('leaves a server that drains once nothing is under way, and not before', async () => {
    const [one, other] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([one.name, other.name], { local: one.name }), {
      unreadyGrace: 10,
    })
    await health(proxy, { [one.name]: 'well', [other.name]: 'well' })
    const [calm, busy] = [bed.client(proxy.port, true), bed.client(proxy.port, true)]
    await calm.get()
    const asked = busy.get('/slow')
    await until('the request', async () => one.slow.length > 0, { within: 10_000, every: 5 })
    one.mood = 'draining'
    await until('the calm one to go', async () => proxy.status().servers[0]?.connections === 1, {
      within: 10_000,
      every: 5,
    })
    one.slow[0]?.end('at last')
    expect(await asked).toBe('at last')
    expect(await calm.get()).toBe(other.name)
    await until('the busy one to go', async () => proxy.status().servers[0]?.connections === 0, {
      within: 10_000,
      every: 5,
    })
    expect(await busy.get()).toBe(other.name)
    expect(proxy.status().servers[0]?.totals).toMatchObject({ ended: 2, cut: 0 })
  })

  test('is cut in the end when its server does not become ready again', async () => {
    const [one, other] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([one.name, other.name], { local: one.name }), {
      unreadyGrace: 300,
    })
    await health(proxy, { [one.name]: 'well', [other.name]: 'well' })
    const asked = bed.client(proxy.port, true).get('/slow')
    await until('the request', async () => one.slow.length > 0, { within: 10_000, every: 5 })
    one.mood = 'unready'
    await expect(asked).rejects.toThrow(/hang up|ECONNRESET/)
    expect(proxy.status().servers[0]?.totals).toMatchObject({ ended: 0, cut: 1 })
  })

  test('stays when the configuration changes, though its server is named no longer', async () => {
    const [one, other] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([one.name]))
    await health(proxy, { [one.name]: 'well' })
    const asked = bed.client(proxy.port, true).get('/slow')
    await until('the request', async () => one.slow.length > 0, { within: 10_000, every: 5 })
    proxy.use(bed.settings([other.name]))
    await health(proxy, { [other.name]: 'well' })
    expect(await bed.client(proxy.port).get()).toBe(other.name)
    one.slow[0]?.end('at last')
    expect(await asked).toBe('at last')
    await until('the other to be forgotten', async () => proxy.status().servers.length === 1, {
      within: 10_000,
      every: 5,
    })
  })
})
