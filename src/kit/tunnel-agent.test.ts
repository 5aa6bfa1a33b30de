import { once } from 'node:events'
import type { Agent } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { HyperkubeError } from './errors.ts'
import { sendRequest, readResponseText } from './https-request.ts'
import { type TestCa, createTestCa } from './testing/test-ca.ts'
import { type TestResponse, type HttpsTestServer, startHttpsTestServer } from './testing/https-test-server.ts'
import { createHttpsAgent, type Dial } from './tunnel-agent.ts'

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

test('asks over the stream that it is given, as who it is, and keeps it', async () => {
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

test('carries a long answer', async () => {
  const text = 'x'.repeat(1 << 20)
  const server = await serve({ status: 200, text })
  expect(await get(createAgent(dialTo(server).dial), server.url)).toBe(text)
})

test('rejects a server of another CA and one with another name', async () => {
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

test('a way that is lost in the middle is a cut', async () => {
  const server = await serve({ silent: true })
  const { dial, streams } = dialTo(server)
  const pending = get(createAgent(dial), server.url)
  pending.catch(() => undefined)
  await expect.poll(() => server.requests.length).toBe(1)
  const lost = new HyperkubeError('SSH_LOST', 'gone')
  for (const stream of streams) stream.destroy(lost)
  await expect(pending).rejects.toMatchObject({ reason: 'cut', sent: true, cause: lost })
})

test('who is done with it lets go of its streams', async () => {
  const server = await serve(okResponse)
  const { dial, streams } = dialTo(server)
  const agent = createAgent(dial)
  await get(agent, server.url)
  agent.destroy()
  await expect.poll(() => streams.map(({ destroyed }) => destroyed)).toEqual([true])
})
