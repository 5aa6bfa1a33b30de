import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { pollUntil } from '../kit/poll.ts'
import { parseHostPort } from '../kit/host-port.ts'
import { ProxiedConnection } from './client-connection.ts'
import type { ApiserverProxy } from './proxy.ts'
import type { ProxySettings } from './run.ts'
import { createOpensslTestCa, type OpensslTestCa } from './testing/openssl-test-ca.ts'
import { ProxyTestBed, waitForHealth } from './testing/proxy-test-bed.ts'

let ca: OpensslTestCa
let bed: ProxyTestBed

beforeAll(async () => {
  ca = await createOpensslTestCa()
})
beforeEach(() => {
  bed = new ProxyTestBed(ca)
})
afterEach(async () => bed.close())

/** Settings without a CA: the server has no TLS and must not be probed. */
function plainSettings(server: string): ProxySettings {
  return { ...bed.settings([server]), caCertificate: undefined }
}

function connectClient(proxy: ApiserverProxy): Socket {
  const socket = connect({ host: '127.0.0.1', port: proxy.port ?? 0, allowHalfOpen: true })
  socket.on('error', () => socket.destroy())
  bed.onClose(async () => socket.destroy())
  return socket
}

test('data and the end of a stream are relayed in both directions', async () => {
  const name = await bed.plainServer((socket) => {
    // The server responds only after the client has closed its side: half-open connections must work.
    void text(socket).then((received) => socket.end(`heard ${received}`))
  })
  const socket = connectClient(await bed.proxy(plainSettings(name)))
  // The first data is sent before the proxy has found a server.
  socket.write('one ')
  socket.end('two')
  expect(await text(socket)).toBe('heard one two')
})

test('a reset of the client connection closes the server connection', async () => {
  const served = Promise.withResolvers<Socket>()
  const name = await bed.plainServer(served.resolve)
  const proxy = await bed.proxy(plainSettings(name))
  const client = connectClient(proxy)
  client.write('word')
  const server = await served.promise
  const cut = new Promise((resolve) => server.once('close', resolve))
  client.resetAndDestroy()
  server.resume().on('end', () => server.end())
  await cut
  await pollUntil('all connections to end', async () => proxy.status().connections === 0, {
    timeoutMs: 10_000,
    intervalMs: 5,
  })
  expect(proxy.status().unserved).toBe(0)
})

test('a client that does not read stops its server from sending', async () => {
  let sent = 0
  const chunk = Buffer.alloc(65_536)
  const name = await bed.plainServer((socket) => {
    const more = (): unknown => socket.write(chunk, () => (sent += chunk.length)) && setImmediate(more)
    socket.on('drain', more)
    more()
  })
  const accepted = Promise.withResolvers<Socket>()
  const front = parseHostPort(await bed.plainServer(accepted.resolve))
  const client = connect(front).pause()
  bed.onClose(async () => client.destroy())
  const ours = await accepted.promise
  const connection = new ProxiedConnection(
    ours,
    connect(parseHostPort(name)),
    0,
    () => undefined,
    () => undefined,
  )
  let before = -1
  const waits = async (): Promise<boolean> => sent > 0 && before === (before = sent)
  await pollUntil('the server to wait', waits, { timeoutMs: 20_000, intervalMs: 300 })
  // The kernel's buffers are full; the proxy buffers almost nothing.
  expect(ours.writableLength).toBeLessThan(1 << 20)
  client.resume()
  const enough = before + (64 << 20)
  await pollUntil('the rest', async () => sent > enough, { timeoutMs: 20_000, intervalMs: 5 })
  connection.cut()
})

test('connections above the maximum are refused and counted', async () => {
  const server = await bed.apiServer()
  const proxy = await bed.proxy(bed.settings([server.name], { maxConnections: 2 }))
  await waitForHealth(proxy, { [server.name]: 'healthy' })
  const [first, second] = [bed.client(proxy.port, true), bed.client(proxy.port, true)]
  await Promise.all([first.get(), second.get()])
  await expect(bed.client(proxy.port).get()).rejects.toThrow('disconnected')
  expect(proxy.status()).toMatchObject({ connections: 2, maxConnections: 2, refused: 1 })
  proxy.applySpec(bed.settings([server.name], { maxConnections: 3 }))
  expect(await bed.client(proxy.port).get()).toBe(server.name)
})

test('byte totals include open and closed connections', async () => {
  const name = await bed.plainServer((socket) => {
    socket.once('data', () => socket.write('12345'))
    socket.once('end', () => socket.end())
  })
  const proxy = await bed.proxy(plainSettings(name))
  const [one, other] = [connectClient(proxy), connectClient(proxy)]
  for (const socket of [one, other]) {
    socket.write('abc')
    await new Promise((resolve) => socket.once('data', resolve))
  }
  one.destroy()
  await pollUntil('one connection to end', async () => proxy.status().connections === 1, {
    timeoutMs: 10_000,
    intervalMs: 5,
  })
  expect(proxy.status().servers[0]?.totals).toMatchObject({ connections: 2, sent: 6, received: 10 })
})

test('a thousand short connections leave no open connection behind', async () => {
  const name = await bed.plainServer((socket) => socket.pipe(socket))
  const proxy = await bed.proxy(plainSettings(name))
  const talk = async (word: string): Promise<string> => {
    const socket = connectClient(proxy)
    socket.end(word)
    return text(socket)
  }
  for (let round = 0; round < 10; round++) {
    const words = Array.from({ length: 100 }, (_, index) => `${round}-${index}`)
    expect(await Promise.all(words.map(talk))).toEqual(words)
  }
  await pollUntil('all connections to end', async () => proxy.status().connections === 0, {
    timeoutMs: 10_000,
    intervalMs: 5,
  })
  expect(proxy.status()).toMatchObject({ unserved: 0, refused: 0 })
})

test('a stop ends idle connections and waits for requests in flight', async () => {
  const server = await bed.apiServer()
  const proxy = await bed.proxy(bed.settings([server.name]))
  await waitForHealth(proxy, { [server.name]: 'healthy' })
  const idle = bed.client(proxy.port, true)
  await idle.get()
  const pending = bed.client(proxy.port, true).get('/slow')
  await pollUntil('the request', async () => server.slow.length > 0, { timeoutMs: 10_000, intervalMs: 5 })
  const stopped = proxy.stop()
  await pollUntil('the idle connection to end', async () => proxy.status().connections === 1, {
    timeoutMs: 10_000,
    intervalMs: 5,
  })
  await expect(idle.get()).rejects.toThrow('ECONNREFUSED')
  server.slow[0]?.end('at last')
  expect(await pending).toBe('at last')
  await stopped
})

test('a stop ends connections with requests in flight after the stop timeout', async () => {
  const name = await bed.plainServer((socket) => socket.write('word'))
  const proxy = await bed.proxy(plainSettings(name), { stopTimeout: 500 })
  const socket = connectClient(proxy)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.write('a request without a response')
  await pollUntil('the request', async () => (proxy.status().servers[0]?.totals.sent ?? 0) > 0, {
    timeoutMs: 10_000,
    intervalMs: 5,
  })
  const ended = new Promise((resolve) => socket.once('end', resolve))
  await proxy.stop()
  await ended
  expect(proxy.status().listening).toBe(false)
})
