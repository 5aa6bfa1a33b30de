import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { startHttpsTestServer, type TestResponse } from '../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import type { Dial } from '../kit/tunnel.ts'
import { checkReadiness } from './readiness.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'

let ca: TestCa
const { serve, serveResponses, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const fine: TestResponse = { json: { fine: true } }
const path = '/api/v1/nodes'
const get = { method: 'GET', path } as const
const post = { method: 'POST', path, body: { a: 1 } } as const

test('requests use the client certificate and share one connection', async () => {
  const server = await serveResponses(fine)
  const client = createClient([server.url])
  for (let turn = 0; turn < 3; turn++) expect(await client.request(get)).toEqual({ fine: true })
  expect(server.requests.map(({ user, connection }) => [user, connection])).toEqual([
    ['client', 1],
    ['client', 1],
    ['client', 1],
  ])
})

test('requests impersonate a user if configured', async () => {
  const server = await serveResponses(fine)
  await createClient([server.url], { impersonate: 'hyperkube:controller:a' }).request(get)
  await createClient([server.url]).request(get)
  expect(server.requests.map(({ user, impersonatedUser }) => [user, impersonatedUser])).toEqual([
    ['client', 'hyperkube:controller:a'],
    ['client', undefined],
  ])
})

test('a client sends no request and no retry once its guard throws', async () => {
  const server = await serveResponses({ status: 503, text: '' })
  let guardCalls = 0
  const over = new Error('no longer the leader')
  const guard = (): void => {
    if (++guardCalls > 2) throw over
  }
  const client = createClient([server.url], { guard })
  await expect(client.request(get)).rejects.toBe(over)
  await expect(client.stream(get)).rejects.toBe(over)
  expect(server.requests).toHaveLength(2)
})

test('a slash at the end of an address is not part of the path', async () => {
  const server = await serveResponses(fine)
  await createClient([`${server.url}/`]).request(get)
  expect(server.requests[0]?.path).toBe(path)
})

test('without servers a request fails', async () => {
  await expect(createClient([]).request(get)).rejects.toMatchObject({
    code: 'KUBE_UNREACHABLE',
    message: 'GET /api/v1/nodes: no API server is known',
  })
})

test('a request contains query, body and content type', async () => {
  const server = await serveResponses(fine)
  const query = { limit: 50, force: true, labelSelector: 'a=b,c!=d', continue: undefined }
  await createClient([server.url]).request({
    method: 'PATCH',
    path,
    query,
    body: { ü: 1 },
    contentType: 'application/apply-patch+yaml',
  })
  expect(server.requests).toMatchObject([
    { method: 'PATCH', path, contentType: 'application/apply-patch+yaml', body: { ü: 1 } },
  ])
  expect(server.requests[0]?.query.toString()).toBe('limit=50&force=true&labelSelector=a%3Db%2Cc%21%3Dd')
})

describe('a refusal has the message of the API', () => {
  test.each([
    [400, 'KUBE_INVALID'],
    [401, 'KUBE_UNAUTHORIZED'],
    [403, 'KUBE_FORBIDDEN'],
    [404, 'KUBE_NOT_FOUND'],
    [409, 'KUBE_CONFLICT'],
    [410, 'KUBE_EXPIRED'],
    [422, 'KUBE_INVALID'],
    [500, 'KUBE_SERVER'],
  ])('for status %i', async (status, code) => {
    const server = await serveResponses({
      status,
      json: {
        kind: 'Status',
        message: 'no, and why',
        reason: 'Because',
        details: { causes: [{ reason: 'FieldValueInvalid', message: 'too long', field: 'spec.name' }] },
      },
    })
    await expect(createClient([server.url]).request(get)).rejects.toMatchObject({
      code,
      status,
      reason: 'Because',
      apiMessage: 'no, and why',
      message: 'GET /api/v1/nodes: no, and why; spec.name too long',
      causes: [{ reason: 'FieldValueInvalid', message: 'too long', field: 'spec.name' }],
    })
    expect(server.requests).toHaveLength(1)
  })

  test('for a body that is not JSON', async () => {
    const server = await serveResponses({ status: 403, text: 'go away\u001B[2J\n' })
    await expect(createClient([server.url]).request(get)).rejects.toMatchObject({
      code: 'KUBE_FORBIDDEN',
      message: String.raw`GET /api/v1/nodes: go away\u001b[2J`,
    })
  })
})

describe('retries', () => {
  const passing: TestResponse[] = [
    { status: 503, text: 'no etcd' },
    { status: 504, text: 'too slow' },
    { status: 429, text: 'crowd' },
    { cut: 'before' },
    { cut: 'middle' },
  ]

  test.each(passing)('a GET is retried after %j', async (failure) => {
    const server = await serveResponses(failure, failure, fine)
    expect(await createClient([server.url]).request(get)).toEqual({ fine: true })
    expect(server.requests).toHaveLength(3)
  })

  test.each(passing.filter((response) => !('status' in response && response.status === 429)))(
    'a POST is not retried after %j',
    async (failure) => {
      const server = await serveResponses(failure, fine)
      await expect(createClient([server.url]).request(post)).rejects.toThrow(path)
      expect(server.requests).toHaveLength(1)
    },
  )

  test('the error of a POST says that the server may have executed the request', async () => {
    const server = await serveResponses({ cut: 'before' })
    await expect(createClient([server.url]).request(post)).rejects.toMatchObject({
      code: 'KUBE_UNREACHABLE',
      hint: 'the server may have executed the request: check the object before you retry',
    })
  })

  test.each([
    [
      'a PUT with a resourceVersion is retried',
      { method: 'PUT', path, body: { metadata: { resourceVersion: '7' } } },
      2,
    ],
    ['a PUT without a resourceVersion is not retried', { method: 'PUT', path, body: { metadata: {} } }, 1],
    [
      'a server-side apply is retried',
      { method: 'PATCH', path, body: {}, contentType: 'application/apply-patch+yaml' },
      2,
    ],
    [
      'a merge patch is not retried',
      { method: 'PATCH', path, body: {}, contentType: 'application/merge-patch+json' },
      1,
    ],
    ['a DELETE is retried', { method: 'DELETE', path }, 2],
  ] as const)('%s', async (_, request, times) => {
    const server = await serveResponses({ cut: 'before' }, fine)
    await createClient([server.url])
      .request(request)
      .catch(() => undefined)
    expect(server.requests).toHaveLength(times)
  })

  test('a POST is retried after a 429 response, but not before Retry-After', async () => {
    const server = await serveResponses({ status: 429, headers: { 'retry-after': '1' }, text: 'crowd' }, fine)
    const started = performance.now()
    expect(await createClient([server.url]).request(post)).toEqual({ fine: true })
    expect(performance.now() - started).toBeGreaterThanOrEqual(999)
  })

  test('a Retry-After beyond the timeout returns the last error at once', async () => {
    const server = await serveResponses({ status: 429, headers: { 'retry-after': '50' }, text: 'crowd' })
    const started = performance.now()
    const request = { ...get, timeout: 40_000 }
    await expect(createClient([server.url]).request(request)).rejects.toMatchObject({ code: 'KUBE_TOO_MANY' })
    expect(performance.now() - started).toBeLessThan(30_000)
  })

  test('a GET is retried until its timeout', async () => {
    const server = await serveResponses({ status: 503, text: 'no etcd' })
    const client = createClient([server.url], {
      timing: { timeout: 2000, backoff: { initial: 200, max: 200 } },
    })
    await expect(client.request(get)).rejects.toMatchObject({ code: 'KUBE_SERVER', apiMessage: 'no etcd' })
    expect(server.requests.length).toBeGreaterThan(1)
  })

  test('a request with once is not retried', async () => {
    const server = await serveResponses({ status: 503, text: 'no etcd' }, fine)
    await expect(createClient([server.url]).request({ ...get, once: true })).rejects.toMatchObject({
      code: 'KUBE_SERVER',
    })
  })
})

describe('several servers', () => {
  /** Returns an address on which no server listens. */
  async function findUnusedUrl(): Promise<string> {
    await using server = await startHttpsTestServer(ca, () => fine)
    return server.url
  }

  test('the first reachable server is used, and stays the first choice', async () => {
    const [unreachable, server] = [await findUnusedUrl(), await serveResponses(fine)]
    const client = createClient([unreachable, server.url])
    await client.request(post)
    await client.request(get)
    expect(server.requests).toHaveLength(2)
    const back = await serve(() => fine, Number(new URL(unreachable).port))
    await client.request(get)
    expect(back.requests).toHaveLength(0)
    expect(server.requests).toHaveLength(3)
  })

  test('a request to a server that shuts down goes to the next server without waiting', async () => {
    const stopping = await serveResponses({
      status: 429,
      headers: { 'retry-after': '30', connection: 'close' },
      text: 'shutting down',
    })
    const staying = await serveResponses(fine)
    const started = performance.now()
    expect(await createClient([stopping.url, staying.url]).request({ ...post, timeout: 40_000 })).toEqual({
      fine: true,
    })
    expect(performance.now() - started).toBeLessThan(30_000)
  })

  test('the response of one server counts, even if others were unreachable before', async () => {
    const server = await serveResponses({ status: 409, json: { kind: 'Status', reason: 'AlreadyExists' } })
    await expect(createClient([await findUnusedUrl(), server.url]).request(post)).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      status: 409,
      reason: 'AlreadyExists',
    })
  })

  test('a request to a server that does not respond goes to the next server', async () => {
    const [silent, server] = [await serveResponses({ silent: true }), await serveResponses(fine)]
    const client = createClient([silent.url, server.url], { timing: { responseMs: 500 } })
    expect(await client.request(get)).toEqual({ fine: true })
    expect(silent.requests).toHaveLength(1)
  })

  test('a server with another CA gets no request, and the next server does', async () => {
    const foreign = await serve(() => fine, 0, await createTestCa())
    const server = await serveResponses(fine)
    expect(await createClient([foreign.url, server.url]).request(post)).toEqual({ fine: true })
    expect(foreign.requests).toHaveLength(0)
    await expect(createClient([foreign.url]).request(get)).rejects.toMatchObject({ code: 'KUBE_UNTRUSTED' })
  })

  test('a server must prove the required name and not its address', async () => {
    const server = await serveResponses(fine, fine)
    const client = createClient([server.url], { serverName: 'kubernetes.default.svc' })
    expect(await client.request(get)).toEqual({ fine: true })
    // The certificate of the server is valid for 127.0.0.1 and not for this name.
    await expect(
      createClient([server.url], { serverName: 'other.example' }).request(get),
    ).rejects.toMatchObject({
      code: 'KUBE_UNTRUSTED',
    })
  })

  test('the error names each server if all are unreachable', async () => {
    const unreachable = [await findUnusedUrl(), await findUnusedUrl()]
    const error = await createClient(unreachable)
      .request({ ...get, once: true })
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'KUBE_UNREACHABLE' })
    expect(error).toHaveProperty('cause.errors.0.message', expect.stringContaining(unreachable[0] ?? ''))
    expect(error).toHaveProperty('cause.errors.1.message', expect.stringContaining(unreachable[1] ?? ''))
  })

  test('a request to a given server does not go to other servers', async () => {
    const [one, other] = [await serveResponses({ cut: 'before' }), await serveResponses(fine)]
    await expect(
      createClient([other.url]).request({ ...get, server: one.url, once: true }),
    ).rejects.toMatchObject({ code: 'KUBE_UNREACHABLE' })
    expect(other.requests).toHaveLength(0)
  })
})

describe('with a dial function of the caller', () => {
  const refused = new HyperkubeError('SSH_DIAL_REFUSED', 'nothing listens there')
  const unreachable = 'https://10.255.255.1:6443'
  /**
   * Creates a `dial` function that refuses the first `refusals` connections. `dialled` lists the addresses of
   * all attempts.
   */
  const dialAfter = (refusals: number): { dial: Dial; dialled: string[] } => {
    const dialled: string[] = []
    const dial: Dial = async (host, port) => {
      dialled.push(`${host}:${port}`)
      if (dialled.length <= refusals) throw refused
      return connect({ host, port })
    }
    return { dial, dialled }
  }

  test('a refused connection leads to the next server', async () => {
    const server = await serveResponses(fine)
    const { dial, dialled } = dialAfter(1)
    expect(await createClient([unreachable, server.url], { dial }).request(post)).toEqual({ fine: true })
    expect(dialled).toEqual(['10.255.255.1:6443', new URL(server.url).host])
  })

  test('refused connections are retried until a server listens', async () => {
    const server = await serveResponses(fine)
    const { dial, dialled } = dialAfter(3)
    expect(await createClient([server.url], { dial }).request(post)).toEqual({ fine: true })
    expect(dialled).toHaveLength(4)
  })

  test('a server without a listener is not ready, and that is reported at once', async () => {
    const { dial, dialled } = dialAfter(1)
    expect(await checkReadiness(createClient([], { dial }), unreachable)).toEqual({
      ready: false,
      failing: [],
      reason: `GET /readyz: ${unreachable}: no connection`,
    })
    expect(dialled).toHaveLength(1)
  })

  test('a forbidden connection is not retried', async () => {
    const forbidden = new HyperkubeError('SSH_FORWARD_FORBIDDEN', 'no')
    const client = createClient([unreachable], { dial: async () => Promise.reject(forbidden) })
    await expect(client.request(get)).rejects.toBe(forbidden)
    await expect(checkReadiness(client, unreachable)).rejects.toBe(forbidden)
  })
})

describe('an abort ends a request with the reason of the signal', () => {
  const reason = new Error('enough')

  test('while waiting for a response', async () => {
    const controller = new AbortController()
    const server = await serve(() => {
      controller.abort(reason)
      return { silent: true }
    })
    await expect(createClient([server.url]).request({ ...get, signal: controller.signal })).rejects.toBe(
      reason,
    )
  })

  test('while waiting for a retry', async () => {
    const controller = new AbortController()
    const server = await serveResponses({ status: 429, headers: { 'retry-after': '4' }, text: 'crowd' })
    // The client calls `random` directly before it waits for a retry, so the abort arrives during the wait.
    const random = (): number => {
      setImmediate(() => controller.abort(reason))
      return 0
    }
    const client = createClient([server.url], { random })
    await expect(client.request({ ...get, signal: controller.signal })).rejects.toBe(reason)
  })

  test('if the signal belongs to the client', async () => {
    const controller = new AbortController()
    const server = await serve(() => {
      controller.abort(reason)
      return { silent: true }
    })
    const client = createClient([server.url], { signal: controller.signal })
    await expect(client.request(get)).rejects.toBe(reason)
    await expect(client.request(get)).rejects.toBe(reason)
    expect(server.requests).toHaveLength(1)
  })

  test('unlike a timeout, which is reported as KUBE_UNREACHABLE', async () => {
    const server = await serveResponses({ silent: true })
    await expect(createClient([server.url]).request({ ...get, timeout: 50 })).rejects.toMatchObject({
      code: 'KUBE_UNREACHABLE',
      message: 'GET /api/v1/nodes: no answer within 50 ms',
    })
  })
})

describe('credentials in files', () => {
  test('are read again after a change, and kept while certificate and key do not match', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'credentials-'))
    try {
      const [certificate, privateKey] = [join(directory, 'crt'), join(directory, 'key')]
      await writeFile(certificate, ca.client.certificate)
      await writeFile(privateKey, ca.client.privateKey)
      const server = await serveResponses(fine)
      const client = createClient([server.url], {
        credentials: { certificate: { file: certificate }, privateKey: { file: privateKey } },
      })
      await client.request(get)
      await writeFile(certificate, ca.otherClient.certificate)
      await client.request(get)
      await writeFile(privateKey, ca.otherClient.privateKey)
      await client.request(get)
      expect(server.requests.map(({ user }) => user)).toEqual(['client', 'client', 'other-client'])
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  test('a token is sent instead of a certificate, and its file is read again', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'credentials-'))
    try {
      const file = join(directory, 'token')
      await using server = await startHttpsTestServer(ca, () => fine, 0, false)
      const client = createClient([server.url], { credentials: { token: { file } }, program: 'shop' })
      await expect(client.request(get)).rejects.toMatchObject({ code: 'CREDENTIALS_NOT_READ' })
      await writeFile(file, 'one\n')
      await client.request(get)
      await writeFile(file, 'two\n')
      await client.request(get)
      const received = server.requests.map(({ user, authorization, userAgent }) => [
        user,
        authorization,
        userAgent,
      ])
      expect(received).toEqual([
        ['', 'Bearer one', 'shop'],
        ['', 'Bearer two', 'shop'],
      ])
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  test('are named in the error if they are missing', async () => {
    const server = await serveResponses(fine)
    const file = join(tmpdir(), 'there-is-no-such-file')
    const client = createClient([server.url], { credentials: { ...ca.client, privateKey: { file } } })
    await expect(client.request(get)).rejects.toMatchObject({
      code: 'CREDENTIALS_NOT_READ',
      message: `cannot use the TLS credentials: ${file}`,
    })
  })
})
