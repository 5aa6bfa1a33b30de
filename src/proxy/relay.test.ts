import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../kit/poll-until.ts'
import { parseAddress } from './address.ts'
import { Connection } from './proxied-connection.ts'
import type { Proxy } from './proxy.ts'
import type { Settings } from './settings.ts'
import { type TestAuthority, testAuthority } from './testing/openssl-test-ca.ts'
import { health, TestBed } from './testing/proxy-test-bed.ts'

let authority: TestAuthority
let bed: TestBed

beforeAll(async () => {
  authority = await testAuthority()
})
beforeEach(() => {
  bed = new TestBed(authority)
})
afterEach(async () => bed.close())

/** Without an authority, so that nobody asks a server without TLS how it is. */
function plain(server: string): Settings {
  return { ...bed.settings([server]), authority: undefined }
}

function clientOf(proxy: Proxy): Socket {
  const socket = connect({ host: '127.0.0.1', port: proxy.port ?? 0, allowHalfOpen: true })
  socket.on('error', () => socket.destroy())
  bed.onClose(async () => socket.destroy())
  return socket
}

test('what one side says arrives at the other, and so does its end', async () => {
  const name = await bed.plainServer((socket) => {
    // It speaks only when the client has said all: half a connection is still one.
    void text(socket).then((heard) => socket.end(`heard ${heard}`))
  })
  const socket = clientOf(await bed.proxy(plain(name)))
  // Also what is said before a server is found.
  socket.write('one ')
  socket.end('two')
  expect(await text(socket)).toBe('heard one two')
})

test('when one side is cut off, so is the other', async () => {
  const served = Promise.withResolvers<Socket>()
  const name = await bed.plainServer(served.resolve)
  const proxy = await bed.proxy(plain(name))
  const client = clientOf(proxy)
  client.write('word')
  const server = await served.promise
  const cut = new Promise((resolve) => server.once('close', resolve))
  client.resetAndDestroy()
  server.resume().on('end', () => server.end())
  await cut
  await until('all to be over', async () => proxy.status().connections === 0, { within: 10_000, every: 5 })
  expect(proxy.status().unserved).toBe(0)
})

test('a client that does not read holds its server back', async () => {
  let sent = 0
  const chunk = Buffer.alloc(65_536)
  const name = await bed.plainServer((socket) => {
    const more = (): unknown => socket.write(chunk, () => (sent += chunk.length)) && setImmediate(more)
    socket.on('drain', more)
    more()
  })
  const accepted = Promise.withResolvers<Socket>()
  const front = parseAddress(await bed.plainServer(accepted.resolve))
  const client = connect(front).pause()
  bed.onClose(async () => client.destroy())
  const ours = await accepted.promise
  const connection = new Connection(ours, connect(parseAddress(name)), 0, () => undefined)
  let before = -1
  const waits = async (): Promise<boolean> => sent > 0 && before === (before = sent)
  await until('the server to wait', waits, { within: 20_000, every: 300 })
  // The kernel's buffers are full, ours hold next to nothing.
  expect(ours.writableLength).toBeLessThan(1 << 20)
  client.resume()
  const enough = before + (64 << 20)
  await until('the rest', async () => sent > enough, { within: 20_000, every: 5 })
  connection.cut()
})

test('more than the maximum are turned away, and told of', async () => {
  const server = await bed.apiServer()
  const proxy = await bed.proxy(bed.settings([server.name], { maxConnections: 2 }))
  await health(proxy, { [server.name]: 'well' })
  const [first, second] = [bed.client(proxy.port, true), bed.client(proxy.port, true)]
  await Promise.all([first.get(), second.get()])
  await expect(bed.client(proxy.port).get()).rejects.toThrow('disconnected')
  expect(proxy.status()).toMatchObject({ connections: 2, maxConnections: 2, refused: 1 })
  proxy.use(bed.settings([server.name], { maxConnections: 3 }))
  expect(await bed.client(proxy.port).get()).toBe(server.name)
})

test('bytes are counted, of those that are over and of those that are not', async () => {
  const name = await bed.plainServer((socket) => {
    socket.once('data', () => socket.write('12345'))
    socket.once('end', () => socket.end())
  })
  const proxy = await bed.proxy(plain(name))
  const [one, other] = [clientOf(proxy), clientOf(proxy)]
  for (const socket of [one, other]) {
    socket.write('abc')
    await new Promise((resolve) => socket.once('data', resolve))
  }
  one.destroy()
  await until('one to be over', async () => proxy.status().connections === 1, { within: 10_000, every: 5 })
  expect(proxy.status().servers[0]?.totals).toMatchObject({ connections: 2, sent: 6, received: 10 })
})

test('a thousand that come and go leave nothing behind', async () => {
  const name = await bed.plainServer((socket) => socket.pipe(socket))
  const proxy = await bed.proxy(plain(name))
  const talk = async (word: string): Promise<string> => {
    const socket = clientOf(proxy)
    socket.end(word)
    return text(socket)
  }
  for (let round = 0; round < 10; round++) {
    const words = Array.from({ length: 100 }, (_, index) => `${round}-${index}`)
    expect(await Promise.all(words.map(talk))).toEqual(words)
  }
  await until('all to be over', async () => proxy.status().connections === 0, { within: 10_000, every: 5 })
  expect(proxy.status()).toMatchObject({ unserved: 0, refused: 0 })
})

test('a stop lets what is under way end, and ends what is calm', async () => {
  const server = await bed.apiServer()
  const proxy = await bed.proxy(bed.settings([server.name]))
  await health(proxy, { [server.name]: 'well' })
  const calm = bed.client(proxy.port, true)
  await calm.get()
  const asked = bed.client(proxy.port, true).get('/slow')
  await until('the request', async () => server.slow.length > 0, { within: 10_000, every: 5 })
  const stopped = proxy.stop()
  await until('the calm one to end', async () => proxy.status().connections === 1, {
    within: 10_000,
    every: 5,
  })
  await expect(calm.get()).rejects.toThrow('ECONNREFUSED')
  server.slow[0]?.end('at last')
  expect(await asked).toBe('at last')
  await stopped
})

test('a stop waits for nobody for ever', async () => {
  const name = await bed.plainServer((socket) => socket.write('word'))
  const proxy = await bed.proxy(plain(name), { stopWithin: 500 })
  const socket = clientOf(proxy)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.write('a question to which there is no answer')
  await until('the question', async () => (proxy.status().servers[0]?.totals.sent ?? 0) > 0, {
    within: 10_000,
    every: 5,
  })
  const ended = new Promise((resolve) => socket.once('end', resolve))
  await proxy.stop()
  await ended
  expect(proxy.status().listening).toBe(false)
})
