import { once } from 'node:events'
import type { Agent } from 'node:https'
import { connect } from 'node:net'
import { Duplex, PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { HyperkubeError } from './errors.ts'
import { readResponseText, sendRequest } from './https-request.ts'
import { type HttpsTestServer, startHttpsTestServer, type TestResponse } from './testing/https-test-server.ts'
import { createTestCa, type TestCa } from './testing/test-ca.ts'
import { createHttpsAgent, type Dial, type StreamPair, Tunnel } from './tunnel.ts'

interface Pipe extends StreamPair {
  readonly readable: PassThrough
  readonly writable: PassThrough
  readonly closed: (Error | null)[]
}

function pipe(): Pipe {
  const closed: (Error | null)[] = []
  const close = (error: Error | null): void => void closed.push(error)
  return { readable: new PassThrough(), writable: new PassThrough(), close, closed }
}

test('a tunnel sends data and end that were written before it was connected', async () => {
  const pending = Promise.withResolvers<StreamPair>()
  const tunnel = new Tunnel(async () => pending.promise)
  tunnel.write('early ')
  tunnel.end('and all')
  const streams = pipe()
  pending.resolve(streams)
  expect((await buffer(streams.writable)).toString()).toBe('early and all')
  streams.readable.end('back')
  expect((await buffer(tunnel)).toString()).toBe('back')
  if (!tunnel.closed) await once(tunnel, 'close')
  expect(streams.closed).toEqual([])
})

test('a tunnel applies backpressure in both directions', async () => {
  const streams = pipe()
  const tunnel = new Tunnel(async () => streams)
  const chunk = Buffer.alloc(100_000)
  streams.readable.write(chunk)
  streams.readable.write(chunk)
  await expect.poll(() => streams.readable.isPaused()).toBe(true)
  expect(streams.readable.readableLength).toBeGreaterThan(0)
  for (let index = 0; index < 5; index++) tunnel.write(chunk)
  expect(tunnel.writableNeedDrain).toBe(true)
  tunnel.end()
  streams.readable.end()
  const [there, here] = await Promise.all([buffer(streams.writable), buffer(tunnel)])
  expect([there.length, here.length]).toEqual([500_000, 200_000])
})

test('a tunnel ends when the other side ends, after all its data', async () => {
  const streams = pipe()
  const tunnel = new Tunnel(async () => streams)
  streams.readable.end('last words')
  expect((await buffer(tunnel)).toString()).toBe('last words')
  expect((await buffer(streams.writable)).length).toBe(0)
})

test('a tunnel fails with the error of a connection that is refused, breaks or closes', async () => {
  const error = new Error('no')
  const refused = new Tunnel(async () => Promise.reject(error))
  expect(await once(refused, 'error')).toEqual([error])

  const broken = pipe()
  const reading = new Tunnel(async () => broken)
  reading.resume()
  await once(broken.readable, 'resume')
  broken.readable.destroy(error)
  expect(await once(reading, 'error')).toEqual([error])
  expect(broken.closed).toEqual([error])

  const closing = pipe()
  const cut = new Tunnel(async () => closing)
  cut.resume()
  await once(closing.readable, 'resume')
  closing.readable.destroy()
  expect(await once(cut, 'error')).toMatchObject([{ message: 'the connection was closed' }])
})

test('a tunnel destroyed before it is connected aborts the dial, and closes a late connection', async () => {
  let aborted: AbortSignal | undefined
  const pending = Promise.withResolvers<StreamPair>()
  const tunnel = new Tunnel(async (signal) => {
    aborted = signal
    return pending.promise
  })
  await expect.poll(() => aborted).toBeDefined()
  tunnel.destroy()
  expect(aborted?.aborted).toBe(true)
  const streams = pipe()
  pending.resolve(streams)
  await expect.poll(() => streams.closed).toEqual([null])
})

test('a write to a closed tunnel fails', async () => {
  const unwritable = new Duplex({ read: () => undefined, write: () => undefined, emitClose: false })
  const tunnel = new Tunnel(async () => ({
    readable: unwritable,
    writable: unwritable,
    close: () => undefined,
  }))
  tunnel.resume()
  tunnel.write('anybody?')
  await once(unwritable, 'resume')
  unwritable.push(null)
  await once(unwritable, 'end')
  unwritable.emit('close')
  expect(await once(tunnel, 'error')).toMatchObject([{ message: 'the connection was closed' }])
})

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

const okResponse: TestResponse = { json: { fine: true } }
const timeouts = { connectMs: 5000, responseMs: 5000 }
/** An address without a server: a request can only succeed through `dial`. */
const unreachableUrl = 'https://10.255.255.1:6443'

async function serve(response: TestResponse, issuer = ca): Promise<HttpsTestServer> {
  return stack.use(await startHttpsTestServer(issuer, () => response))
}

/** Builds a dial function that always connects to one server, whatever host is requested. */
function dialTo({ url }: HttpsTestServer): { dial: Dial; dialled: [string, number][]; streams: Duplex[] } {
  const dialled: [string, number][] = []
  const streams: Duplex[] = []
  const dial: Dial = async (host, port) => {
    dialled.push([host, port])
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    streams.push(socket)
    await once(socket, 'connect')
    return socket
  }
  return { dial, dialled, streams }
}

function createAgent(dial: Dial): Agent {
  return stack.adopt(createHttpsAgent(dial, { keepAlive: true }), (agent) => agent.destroy())
}

async function get(agent: Agent, url: string, more: object = {}): Promise<string> {
  const { signal } = new AbortController()
  const { certificate: cert, privateKey: key } = ca.client
  const identity = { ca: ca.certificate, cert, key }
  const request = {
    url,
    method: 'GET',
    headers: {},
    body: undefined,
    agent,
    identity,
    timeouts,
    signal,
  }
  return readResponseText(await sendRequest({ ...request, ...more }), 1 << 20, signal)
}

test('an agent sends its client certificate over the dialled stream and reuses the stream', async () => {
  const server = await serve(okResponse)
  const { dial, dialled } = dialTo(server)
  const agent = createAgent(dial)
  for (let attempt = 0; attempt < 3; attempt++) expect(await get(agent, server.url)).toBe('{"fine":true}')
  expect(dialled).toEqual([['127.0.0.1', Number(new URL(server.url).port)]])
  expect(server.requests.map(({ user, connection }) => [user, connection])).toEqual([
    ['client', 1],
    ['client', 1],
    ['client', 1],
  ])
})

test('an agent receives a response of 1 MiB', async () => {
  const text = 'x'.repeat(1 << 20)
  const server = await serve({ status: 200, text })
  expect(await get(createAgent(dialTo(server).dial), server.url)).toBe(text)
})

test('an agent rejects a server of another CA and a server with another name', async () => {
  const foreignServer = await serve(okResponse, await createTestCa())
  const untrusted = { reason: 'untrusted', sent: false }
  await expect(get(createAgent(dialTo(foreignServer).dial), foreignServer.url)).rejects.toMatchObject(
    untrusted,
  )
  const server = await serve(okResponse)
  const { dial, dialled } = dialTo(server)
  await expect(get(createAgent(dial), unreachableUrl)).rejects.toMatchObject(untrusted)
  expect(dialled).toEqual([['10.255.255.1', 6443]])
  expect(server.requests).toEqual([])
})

test('a refused dial is reported as unreachable, with its cause', async () => {
  const refused = new HyperkubeError('SSH_DIAL_REFUSED', 'nothing listens there')
  const agent = createAgent(async () => Promise.reject(refused))
  await expect(get(agent, unreachableUrl)).rejects.toMatchObject({
    reason: 'unreachable',
    sent: false,
    cause: refused,
  })
})

test('a host that forbids forwarding is reported with the original error', async () => {
  const forbidden = new HyperkubeError('SSH_FORWARD_FORBIDDEN', 'no')
  await expect(
    get(
      createAgent(async () => Promise.reject(forbidden)),
      unreachableUrl,
    ),
  ).rejects.toBe(forbidden)
})

test('a dial is aborted on timeout and when its request is aborted', async () => {
  const signals: AbortSignal[] = []
  const agent = createAgent(async (_host, _port, signal) => {
    signals.push(signal)
    await once(signal, 'abort')
    throw signal.reason
  })
  const short = { timeouts: { connectMs: 20, responseMs: 5000 } }
  await expect(get(agent, unreachableUrl, short)).rejects.toMatchObject({
    reason: 'unreachable',
    sent: false,
  })
  const stop = new AbortController()
  const pending = get(agent, unreachableUrl, { signal: stop.signal })
  await expect.poll(() => signals.length).toBe(2)
  const reason = new Error('enough')
  stop.abort(reason)
  await expect(pending).rejects.toBe(reason)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

test('a connection lost during a request is reported as cut', async () => {
  const server = await serve({ silent: true })
  const { dial, streams } = dialTo(server)
  const pending = get(createAgent(dial), server.url)
  pending.catch(() => undefined)
  await expect.poll(() => server.requests.length).toBe(1)
  const lost = new HyperkubeError('SSH_LOST', 'gone')
  for (const stream of streams) stream.destroy(lost)
  await expect(pending).rejects.toMatchObject({ reason: 'cut', sent: true, cause: lost })
})

test('destroying an agent destroys its streams', async () => {
  const server = await serve(okResponse)
  const { dial, streams } = dialTo(server)
  const agent = createAgent(dial)
  await get(agent, server.url)
  agent.destroy()
  await expect.poll(() => streams.map(({ destroyed }) => destroyed)).toEqual([true])
})
