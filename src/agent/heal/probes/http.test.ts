import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Probe, ProbeCheck } from '../../../contract/probe.ts'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import { testServer } from '../../../kit/testing/https-test-server.ts'
import type { Seen } from '../probe-result.ts'
import { type Prober, prober } from './prober.ts'
import { testComponent, testEdges, testProbe } from './testing/fake-probe-deps.ts'

const edges = testEdges()
const credentials = { certificate: '/own/client.crt', privateKey: '/own/client.key' }
let one: Prober
let authority: TestAuthority
let stranger: TestAuthority

beforeAll(async () => {
  one = prober(edges)
  ;[authority, stranger] = await Promise.all([testAuthority(), testAuthority()])
  edges.texts.set('/own/client.crt', authority.client.certificate)
  edges.texts.set('/own/client.key', authority.client.privateKey)
})
afterAll(() => one[Symbol.dispose]())

async function ask(check: ProbeCheck, wish: Partial<Probe> = {}, component = 'x'): Promise<Seen> {
  return one.ask(testProbe(check, wish), testComponent(component), new AbortController().signal)
}

async function server(
  listener: RequestListener,
): Promise<AsyncDisposable & { url: string; connections: number }> {
  const made = createServer(listener)
  made.listen(0, '127.0.0.1')
  await once(made, 'listening')
  const address = made.address()
  const port = typeof address === 'object' ? address?.port : 0
  const found = {
    url: `http://127.0.0.1:${port}/livez`,
    connections: 0,
    async [Symbol.asyncDispose]() {
      made.closeAllConnections()
      made.close()
      await once(made, 'close')
    },
  }
  made.on('connection', () => (found.connections += 1))
  return found
}

test('a server that is well is asked over one connection', async () => {
  await using it = await server((_, response) => response.end('ok'))
  for (const _ of [1, 2, 3]) expect(await ask({ kind: 'http', url: it.url })).toEqual({ state: 'well' })
  expect(it.connections).toBe(1)
})

test('a server that lets go of its connections is asked once more', async () => {
  await using it = await server((request, response) => {
    response.end('ok', () => setImmediate(() => request.socket.destroy()))
  })
  for (const _ of [1, 2, 3, 4, 5]) expect(await ask({ kind: 'http', url: it.url })).toEqual({ state: 'well' })
})

test('a server that is not well says why, in the line that matters', async () => {
  await using it = await server((_, response) =>
    response.writeHead(503).end('[+]data_corruption ok\n[-]linearizable_read failed: no leader\n'),
  )
  const check = { kind: 'http', url: it.url } as const
  const seen = 'status 503: [-]linearizable_read failed: no leader'
  expect(await ask(check)).toEqual({ state: 'failed', code: 'HEALTH_UNWELL', seen })
  expect(await ask(check, { name: 'readyz' }, 'etcd')).toMatchObject({ code: 'ETCD_NO_QUORUM', seen })
  expect(await ask(check, { name: 'readyz' }, 'kube-apiserver')).toMatchObject({ code: 'API_NOT_READY' })
  expect(await ask(check, { name: 'livez' }, 'etcd')).toMatchObject({ code: 'HEALTH_UNWELL' })
})

test('one that takes connections and says nothing is found by the time', async () => {
  await using it = await server(() => undefined)
  const check = { kind: 'http', url: it.url } as const
  const silent = { state: 'failed', code: 'HEALTH_NO_ANSWER', seen: 'no answer within 100 ms' }
  expect(await ask(check, { timeout: 100 })).toEqual(silent)
  // Dead is not the same as without a quorum.
  expect(await ask(check, { timeout: 100, name: 'readyz' }, 'etcd')).toEqual(silent)
  expect(await ask(check, { timeout: 100, name: 'api' }, 'apiserver-proxy')).toMatchObject({
    code: 'API_NOT_REACHED',
  })
})

test('nobody there is no answer', async () => {
  const it = await server(() => undefined)
  await it[Symbol.asyncDispose]()
  const seen = await ask({ kind: 'http', url: it.url })
  expect(seen).toMatchObject({ state: 'failed', code: 'HEALTH_NO_ANSWER' })
  expect(seen).toHaveProperty('seen', expect.stringContaining('ECONNREFUSED'))
})

test('a server is trusted by an authority that is read again when it has changed', async () => {
  await using it = await testServer(authority, ({ user }) => ({ status: 200, text: user }))
  edges.texts.set('/ca.crt', authority.certificate)
  const check = { kind: 'http', url: `${it.url}/healthz`, authority: '/ca.crt', credentials } as const
  expect(await ask(check)).toEqual({ state: 'well' })
  edges.texts.set('/ca.crt', stranger.certificate)
  // It lives, and a restart would not help; whoever only tells of it says that clients are turned away.
  expect(await ask(check)).toMatchObject({ state: 'unknown' })
  expect(await ask(check, { scope: 'remote' })).toMatchObject({ state: 'failed', code: 'HEALTH_UNWELL' })
  edges.texts.delete('/ca.crt')
  expect(await ask(check)).toEqual({ state: 'unknown', seen: 'there is no /ca.crt' })
})

test('a server that wants to know who asks is told', async () => {
  await using it = await testServer(authority, ({ user }) => ({
    status: user === 'client' ? 200 : 401,
    text: user,
  }))
  edges.texts.set('/own/ca.crt', authority.certificate)
  expect(await ask({ kind: 'http', url: it.url, authority: '/own/ca.crt', credentials })).toEqual({
    state: 'well',
  })
})

test('whoever is aborted hears of it, and of nothing else', async () => {
  await using it = await server(() => undefined)
  const stop = new AbortController()
  const asked = one.ask(testProbe({ kind: 'http', url: it.url }), testComponent('x'), stop.signal)
  stop.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
})
