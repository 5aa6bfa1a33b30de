import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { pollUntil } from '../kit/poll.ts'
import { type OpensslTestCa, createOpensslTestCa } from './testing/openssl-test-ca.ts'
import { findFreeAddress, waitForHealth, ProxyTestBed } from './testing/proxy-test-bed.ts'

let ca: OpensslTestCa
let bed: ProxyTestBed

beforeAll(async () => {
  ca = await createOpensslTestCa()
})
beforeEach(() => {
  bed = new ProxyTestBed(ca)
})
afterEach(async () => bed.close())

describe('a new connection', () => {
  test('goes to each healthy server in turn', async () => {
    const names = [await bed.apiServer(), await bed.apiServer(), await bed.apiServer()].map(
      ({ name }) => name,
    )
    const proxy = await bed.proxy(bed.settings(names))
    await waitForHealth(proxy, Object.fromEntries(names.map((name) => [name, 'healthy'])))
    const client = bed.client(proxy.port)
    const reached = [await client.get(), await client.get(), await client.get()]
    expect(reached.toSorted()).toEqual(names.toSorted())
  })

  test('goes to the local server while that server is healthy', async () => {
    const [here, there] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([there.name, here.name], { local: here.name }))
    await waitForHealth(proxy, { [here.name]: 'healthy', [there.name]: 'healthy' })
    const client = bed.client(proxy.port)
    for (let time = 0; time < 4; time++) expect(await client.get()).toBe(here.name)
    here.mode = 'unready'
    await waitForHealth(proxy, { [here.name]: 'unhealthy' })
    for (let time = 0; time < 4; time++) expect(await client.get()).toBe(there.name)
  })

  test('is served before the first probe, although other servers refuse connections', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(
      bed.settings([await findFreeAddress(), await findFreeAddress(), server.name]),
    )
    expect(await bed.client(proxy.port).get()).toBe(server.name)
  })

  test('is served by an unhealthy server if no server is healthy', async () => {
    const server = await bed.apiServer()
    server.mode = 'unready'
    const proxy = await bed.proxy(bed.settings([server.name]))
    await waitForHealth(proxy, { [server.name]: 'unhealthy' })
    expect(await bed.client(proxy.port).get()).toBe(server.name)
  })

  test('never goes to a server with a certificate of another CA', async () => {
    const foreign = await bed.apiServer(undefined, await createOpensslTestCa())
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([foreign.name, server.name]))
    await waitForHealth(proxy, { [foreign.name]: 'unhealthy', [server.name]: 'healthy' })
    const client = bed.client(proxy.port)
    for (let time = 0; time < 4; time++) expect(await client.get()).toBe(server.name)
  })

  test('is served by another server if the first closes the connection without a response', async () => {
    const dying = await bed.plainServer((socket) => socket.once('data', () => socket.destroy()))
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([dying, server.name]))
    const client = bed.client(proxy.port)
    for (let time = 0; time < 4; time++) expect(await client.get()).toBe(server.name)
  })

  test('is served by another server, with the same data, if the first server hangs', async () => {
    const hanging = await bed.plainServer(() => undefined)
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([hanging, server.name]), {
      probeTimeout: 500,
      urgentProbeTimeout: 400,
    })
    expect(await bed.client(proxy.port).get()).toBe(server.name)
    await waitForHealth(proxy, { [hanging]: 'unhealthy' })
  })

  test('waits while its only server restarts, until the server is ready', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([server.name]))
    await waitForHealth(proxy, { [server.name]: 'healthy' })
    await server.close()
    const waiting = [bed.client(proxy.port).get(), bed.client(proxy.port).get()]
    await waitForHealth(proxy, { [server.name]: 'unhealthy' })
    const restarted = await bed.apiServer(server.name)
    restarted.mode = 'unready'
    const mode = Promise.all(waiting).then(() => restarted.mode)
    await pollUntil(
      'a probe of the new server',
      async () => /500/.test(proxy.status().servers[0]?.reason ?? ''),
      {
        timeoutMs: 10_000,
        intervalMs: 5,
      },
    )
    restarted.mode = 'ready'
    expect(await mode).toBe('ready')
    expect(await Promise.all(waiting)).toEqual([server.name, server.name])
    expect(proxy.status().unserved).toBe(0)
  })

  test('waits if its only server closes the connection without a response', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([server.name]))
    await waitForHealth(proxy, { [server.name]: 'healthy' })
    server.mode = 'closing'
    const waiting = bed.client(proxy.port).get()
    // Prevents an unhandled rejection. The same promise is awaited below.
    waiting.catch(() => undefined)
    await pollUntil(
      'a closed connection',
      async () => (proxy.status().servers[0]?.totals.misses ?? 0) > 0 || proxy.status().unserved > 0,
      { timeoutMs: 10_000, intervalMs: 5 },
    )
    server.mode = 'ready'
    expect(await waiting).toBe(server.name)
    expect(proxy.status().unserved).toBe(0)
  })

  test('is closed if its only server closes all connections for too long', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([server.name]), { restartTime: 100 })
    await waitForHealth(proxy, { [server.name]: 'healthy' })
    server.mode = 'closing'
    await expect(bed.client(proxy.port).get()).rejects.toThrow(/socket|ECONNRESET/)
    expect(proxy.status().unserved).toBe(1)
  })

  test('is closed if its only server does not return in time', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([server.name]), { restartTime: 100 })
    await waitForHealth(proxy, { [server.name]: 'healthy' })
    await server.close()
    await expect(bed.client(proxy.port).get()).rejects.toThrow(/socket|ECONNRESET/)
    expect(proxy.status().unserved).toBe(1)
  })

  test('that waits for a restart does not delay the end of the proxy', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([server.name]), { stopTimeout: 50 })
    await waitForHealth(proxy, { [server.name]: 'healthy' })
    await server.close()
    const waiting = bed.client(proxy.port).get()
    const stopped = waitForHealth(proxy, { [server.name]: 'unhealthy' }).then(async () => proxy.stop())
    await expect(waiting).rejects.toThrow(/socket|ECONNRESET/)
    await stopped
  })

  test('is closed at once if no server is reachable', async () => {
    const proxy = await bed.proxy(bed.settings([await findFreeAddress()]))
    await expect(bed.client(proxy.port).get()).rejects.toThrow(/socket|ECONNRESET/)
    expect(proxy.status().unserved).toBe(1)
  })
})

test('a server that rejects anonymous probes is probed with the client certificate', async () => {
  const server = await bed.apiServer()
  server.mode = 'strict'
  const proxy = await bed.proxy(bed.settings([server.name]))
  await waitForHealth(proxy, { [server.name]: 'healthy' })
  const foreign = await bed.proxy({ ...bed.settings([server.name]), credentials: undefined })
  await pollUntil(
    'the rejected probe',
    async () => foreign.status().servers.some(({ reason }) => reason === 'rejects the probe: 401'),
    { timeoutMs: 10_000, intervalMs: 5 },
  )
  expect(await bed.client(foreign.port).get()).toBe(server.name)
})

test('without a CA no server is probed, and every client is served', async () => {
  const server = await bed.apiServer()
  const proxy = await bed.proxy({ ...bed.settings([server.name]), caCertificate: undefined })
  expect(await bed.client(proxy.port).get()).toBe(server.name)
  expect(bed.logged).toEqual(['no CA certificate: servers are not probed'])
})

describe('an open connection', () => {
  test('is cut if its server stops responding, and its client reaches another server', async () => {
    const [one, other] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([one.name, other.name], { local: one.name }), {
      probeTimeout: 500,
      urgentProbeTimeout: 400,
    })
    await waitForHealth(proxy, { [one.name]: 'healthy', [other.name]: 'healthy' })
    const client = bed.client(proxy.port, true)
    expect(await client.get()).toBe(one.name)
    one.mode = 'mute'
    await expect(client.get()).rejects.toThrow(/hang up|ECONNRESET/)
    expect(await client.get()).toBe(other.name)
    expect(proxy.status().servers[0]?.totals.cut).toBe(1)
  })

  test('makes the proxy probe its server at once if it waits for a response', async () => {
    const server = await bed.apiServer()
    // With this interval, the next regular probe comes after the end of this test. Only an urgent probe can
    // detect the failure.
    const proxy = await bed.proxy(bed.settings([server.name]), { probeInterval: 60_000 })
    await waitForHealth(proxy, { [server.name]: 'healthy' })
    const client = bed.client(proxy.port, true)
    await client.get()
    server.mode = 'mute'
    const pending = client.get()
    await waitForHealth(proxy, { [server.name]: 'unhealthy' })
    client.close()
    await expect(pending).rejects.toThrow(/hang up|ECONNRESET/)
  })

  test('stays open if its server stops responding and no other server is healthy', async () => {
    const server = await bed.apiServer()
    const proxy = await bed.proxy(bed.settings([server.name, await findFreeAddress()]), {
      probeTimeout: 500,
      urgentProbeTimeout: 400,
    })
    await waitForHealth(proxy, { [server.name]: 'healthy' })
    const client = bed.client(proxy.port, true)
    await client.get()
    server.mode = 'mute'
    await waitForHealth(proxy, { [server.name]: 'unhealthy' })
    server.mode = 'ready'
    await waitForHealth(proxy, { [server.name]: 'healthy' })
    expect(await client.get()).toBe(server.name)
    expect(proxy.status().servers[0]?.totals).toMatchObject({ connections: 1, cut: 0, ended: 0 })
  })

  test('ends when its server drains, but only after its request has completed', async () => {
    const [one, other] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([one.name, other.name], { local: one.name }), {
      unreadyGrace: 10,
    })
    await waitForHealth(proxy, { [one.name]: 'healthy', [other.name]: 'healthy' })
    const [idle, busy] = [bed.client(proxy.port, true), bed.client(proxy.port, true)]
    await idle.get()
    const pending = busy.get('/slow')
    await pollUntil('the request', async () => one.slow.length > 0, { timeoutMs: 10_000, intervalMs: 5 })
    one.mode = 'draining'
    await pollUntil('the idle connection to end', async () => proxy.status().servers[0]?.connections === 1, {
      timeoutMs: 10_000,
      intervalMs: 5,
    })
    one.slow[0]?.end('at last')
    expect(await pending).toBe('at last')
    expect(await idle.get()).toBe(other.name)
    await pollUntil('the busy connection to end', async () => proxy.status().servers[0]?.connections === 0, {
      timeoutMs: 10_000,
      intervalMs: 5,
    })
    expect(await busy.get()).toBe(other.name)
    expect(proxy.status().servers[0]?.totals).toMatchObject({ ended: 2, cut: 0 })
  })

  test('is cut after the grace period if its server stays unready', async () => {
    const [one, other] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([one.name, other.name], { local: one.name }), {
      unreadyGrace: 300,
    })
    await waitForHealth(proxy, { [one.name]: 'healthy', [other.name]: 'healthy' })
    const pending = bed.client(proxy.port, true).get('/slow')
    await pollUntil('the request', async () => one.slow.length > 0, { timeoutMs: 10_000, intervalMs: 5 })
    one.mode = 'unready'
    await expect(pending).rejects.toThrow(/hang up|ECONNRESET/)
    expect(proxy.status().servers[0]?.totals).toMatchObject({ ended: 0, cut: 1 })
  })

  test('stays open when a new configuration removes its server', async () => {
    const [one, other] = [await bed.apiServer(), await bed.apiServer()]
    const proxy = await bed.proxy(bed.settings([one.name]))
    await waitForHealth(proxy, { [one.name]: 'healthy' })
    const pending = bed.client(proxy.port, true).get('/slow')
    await pollUntil('the request', async () => one.slow.length > 0, { timeoutMs: 10_000, intervalMs: 5 })
    proxy.applySpec(bed.settings([other.name]))
    await waitForHealth(proxy, { [other.name]: 'healthy' })
    expect(await bed.client(proxy.port).get()).toBe(other.name)
    one.slow[0]?.end('at last')
    expect(await pending).toBe('at last')
    await pollUntil('the removed server to be dropped', async () => proxy.status().servers.length === 1, {
      timeoutMs: 10_000,
      intervalMs: 5,
    })
  })
})
