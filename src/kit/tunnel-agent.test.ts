import { once } from 'node:events'
import type { Agent } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { HyperkubeError } from './errors.ts'
import { ask, readText } from './https-request.ts'
import { type TestAuthority, testAuthority } from './testing/test-ca.ts'
import { type TestAnswer, type TestServer, testServer } from './testing/https-test-server.ts'
import { agentOver, type Dial } from './tunnel-agent.ts'

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

const fine: TestAnswer = { json: { fine: true } }
const patience = { connect: 5000, answer: 5000 }
/** Where nothing of ours is: who gets there was led there by `dial`. */
const away = 'https://10.255.255.1:6443'

async function serve(answer: TestAnswer, by = authority): Promise<TestServer> {
  return stack.use(await testServer(by, () => answer))
}

/** A way that leads to one server, whoever is meant. */
function wayTo({ url }: TestServer): { dial: Dial; dialled: [string, number][]; streams: Duplex[] } {
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

function agentBy(dial: Dial): Agent {
  return stack.adopt(agentOver(dial, { keepAlive: true }), (agent) => agent.destroy())
}

async function get(agent: Agent, url: string, more: object = {}): Promise<string> {
  const { signal } = new AbortController()
  const { certificate: cert, privateKey: key } = authority.client
  const identity = { ca: authority.certificate, cert, key }
  const question = { url, method: 'GET', headers: {}, body: undefined, agent, identity, patience, signal }
  return readText(await ask({ ...question, ...more }), 1 << 20, signal)
}

test('asks over the stream that it is given, as who it is, and keeps it', async () => {
  const server = await serve(fine)
  const { dial, dialled } = wayTo(server)
  const agent = agentBy(dial)
  for (let turn = 0; turn < 3; turn++) expect(await get(agent, server.url)).toBe('{"fine":true}')
  expect(dialled).toEqual([['127.0.0.1', Number(new URL(server.url).port)]])
  expect(server.asked.map(({ user, connection }) => [user, connection])).toEqual([
    ['client', 1],
    ['client', 1],
    ['client', 1],
  ])
})

test('carries a long answer', async () => {
  const text = 'x'.repeat(1 << 20)
  const server = await serve({ status: 200, text })
  expect(await get(agentBy(wayTo(server).dial), server.url)).toBe(text)
})

test('a server of another authority is not taken, nor one that is somebody else', async () => {
  const stranger = await serve(fine, await testAuthority())
  const untrusted = { why: 'untrusted', sent: false }
  await expect(get(agentBy(wayTo(stranger).dial), stranger.url)).rejects.toMatchObject(untrusted)
  const server = await serve(fine)
  const { dial, dialled } = wayTo(server)
  await expect(get(agentBy(dial), away)).rejects.toMatchObject(untrusted)
  expect(dialled).toEqual([['10.255.255.1', 6443]])
  expect(server.asked).toEqual([])
})

test('where nobody listens there is no connection, and why is its cause', async () => {
  const refused = new HyperkubeError('SSH_DIAL_REFUSED', 'nothing listens there')
  const agent = agentBy(async () => Promise.reject(refused))
  await expect(get(agent, away)).rejects.toMatchObject({ why: 'unreachable', sent: false, cause: refused })
})

test('a host that makes no connections for anybody is told as it is', async () => {
  const forbidden = new HyperkubeError('SSH_FORWARD_FORBIDDEN', 'no')
  await expect(
    get(
      agentBy(async () => Promise.reject(forbidden)),
      away,
    ),
  ).rejects.toBe(forbidden)
})

test('a way that is not found in time is given up, and so is one that nobody waits for', async () => {
  const signals: AbortSignal[] = []
  const agent = agentBy(async (_host, _port, signal) => {
    signals.push(signal)
    await once(signal, 'abort')
    throw signal.reason
  })
  const short = { patience: { connect: 20, answer: 5000 } }
  await expect(get(agent, away, short)).rejects.toMatchObject({ why: 'unreachable', sent: false })
  const stop = new AbortController()
  const asking = get(agent, away, { signal: stop.signal })
  await expect.poll(() => signals.length).toBe(2)
  const reason = new Error('enough')
  stop.abort(reason)
  await expect(asking).rejects.toBe(reason)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

test('a way that is lost in the middle is a cut', async () => {
  const server = await serve({ silent: true })
  const { dial, streams } = wayTo(server)
  const asking = get(agentBy(dial), server.url)
  asking.catch(() => undefined)
  await expect.poll(() => server.asked.length).toBe(1)
  const lost = new HyperkubeError('SSH_LOST', 'gone')
  for (const stream of streams) stream.destroy(lost)
  await expect(asking).rejects.toMatchObject({ why: 'cut', sent: true, cause: lost })
})

test('who is done with it lets go of its streams', async () => {
  const server = await serve(fine)
  const { dial, streams } = wayTo(server)
  const agent = agentBy(dial)
  await get(agent, server.url)
  agent.destroy()
  await expect.poll(() => streams.map(({ destroyed }) => destroyed)).toEqual([true])
})
