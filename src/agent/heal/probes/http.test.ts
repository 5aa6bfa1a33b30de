import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Probe, ProbeCheck } from '../../../contract/probe.ts'
import { startHttpsTestServer } from '../../../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../../../kit/testing/test-ca.ts'
import type { ProbeResult } from './probe-runner.ts'
import { createProber, type Prober } from './prober.ts'
import { createFakeProbeDeps, testComponent, testProbe } from './testing/fake-probe-deps.ts'

const deps = createFakeProbeDeps()
const credentials = { certificate: '/own/client.crt', privateKey: '/own/client.key' }
let probes: Prober
let ca: TestCa
let foreignCa: TestCa

beforeAll(async () => {
  probes = createProber(deps)
  ;[ca, foreignCa] = await Promise.all([createTestCa(), createTestCa()])
  deps.texts.set('/own/client.crt', ca.client.certificate)
  deps.texts.set('/own/client.key', ca.client.privateKey)
})
afterAll(() => probes[Symbol.dispose]())

async function runProbe(
  check: ProbeCheck,
  overrides: Partial<Probe> = {},
  component = 'x',
): Promise<ProbeResult> {
  return probes.run(testProbe(check, overrides), testComponent(component), new AbortController().signal)
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

test('probes of a healthy server share one connection', async () => {
  await using target = await server((_, response) => response.end('ok'))
  for (const _ of [1, 2, 3])
    expect(await runProbe({ kind: 'http', url: target.url })).toEqual({ state: 'healthy' })
  expect(target.connections).toBe(1)
})

test('a probe over a connection that the server closed is sent again', async () => {
  await using target = await server((request, response) => {
    response.end('ok', () => setImmediate(() => request.socket.destroy()))
  })
  for (const _ of [1, 2, 3, 4, 5])
    expect(await runProbe({ kind: 'http', url: target.url })).toEqual({ state: 'healthy' })
})

test('an unhealthy server is reported with its failed check and the code of its component', async () => {
  await using target = await server((_, response) =>
    response.writeHead(503).end('[+]data_corruption ok\n[-]linearizable_read failed: no leader\n'),
  )
  const check = { kind: 'http', url: target.url } as const
  const text = 'status 503: [-]linearizable_read failed: no leader'
  expect(await runProbe(check)).toEqual({ state: 'unhealthy', code: 'HEALTH_CHECK_FAILED', message: text })
  expect(await runProbe(check, { name: 'readyz' }, 'etcd')).toMatchObject({
    code: 'ETCD_NO_QUORUM',
    message: text,
  })
  expect(await runProbe(check, { name: 'readyz' }, 'kube-apiserver')).toMatchObject({ code: 'API_NOT_READY' })
  expect(await runProbe(check, { name: 'livez' }, 'etcd')).toMatchObject({ code: 'HEALTH_CHECK_FAILED' })
})

test('a server that accepts connections and does not respond fails at the timeout', async () => {
  await using target = await server(() => undefined)
  const check = { kind: 'http', url: target.url } as const
  const unresponsive = { state: 'unhealthy', code: 'HEALTH_NO_RESPONSE', message: 'no answer within 100 ms' }
  expect(await runProbe(check, { timeoutMs: 100 })).toEqual(unresponsive)
  // If etcd does not respond at all, the probe does not report a lost quorum.
  expect(await runProbe(check, { timeoutMs: 100, name: 'readyz' }, 'etcd')).toEqual(unresponsive)
  expect(await runProbe(check, { timeoutMs: 100, name: 'api' }, 'apiserver-proxy')).toMatchObject({
    code: 'API_UNREACHABLE',
  })
})

test('a closed port is no response', async () => {
  const target = await server(() => undefined)
  await target[Symbol.asyncDispose]()
  const result = await runProbe({ kind: 'http', url: target.url })
  expect(result).toMatchObject({
    state: 'unhealthy',
    code: 'HEALTH_NO_RESPONSE',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})

test('a changed CA file is read again, and an untrusted server is unhealthy only to remote probes', async () => {
  await using target = await startHttpsTestServer(ca, ({ user }) => ({ status: 200, text: user }))
  deps.texts.set('/ca.crt', ca.certificate)
  const check = { kind: 'http', url: `${target.url}/healthz`, caFile: '/ca.crt', credentials } as const
  expect(await runProbe(check)).toEqual({ state: 'healthy' })
  deps.texts.set('/ca.crt', foreignCa.certificate)
  // The server runs, so a local probe must not cause a restart. A remote probe reports that clients reject
  // the certificate.
  expect(await runProbe(check)).toMatchObject({ state: 'unknown' })
  expect(await runProbe(check, { scope: 'remote' })).toMatchObject({
    state: 'unhealthy',
    code: 'HEALTH_CHECK_FAILED',
  })
  deps.texts.delete('/ca.crt')
  expect(await runProbe(check)).toEqual({ state: 'unknown', message: 'there is no /ca.crt' })
})

test('a server that requires a client certificate gets one', async () => {
  await using target = await startHttpsTestServer(ca, ({ user }) => ({
    status: user === 'client' ? 200 : 401,
    text: user,
  }))
  deps.texts.set('/own/ca.crt', ca.certificate)
  expect(await runProbe({ kind: 'http', url: target.url, caFile: '/own/ca.crt', credentials })).toEqual({
    state: 'healthy',
  })
})

test('an aborted probe rejects with the reason of the abort', async () => {
  await using target = await server(() => undefined)
  const stop = new AbortController()
  const running = probes.run(testProbe({ kind: 'http', url: target.url }), testComponent('x'), stop.signal)
  stop.abort(new Error('enough'))
  await expect(running).rejects.toThrow('enough')
})
