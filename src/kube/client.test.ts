import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import type { Dial } from '../kit/tunnel-agent.ts'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { ready } from './readiness.ts'
import { testBench } from './testing/kube-test-bench.ts'
import { type TestAnswer, testServer } from '../kit/testing/https-test-server.ts'

let authority: TestAuthority
const { serve, serverOf, clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const fine: TestAnswer = { json: { fine: true } }
const path = '/api/v1/nodes'
const get = { method: 'GET', path } as const
const post = { method: 'POST', path, body: { a: 1 } } as const

test('asks as who it is, and keeps the connection', async () => {
  const server = await serverOf(fine)
  const client = clientOf([server.url])
  for (let turn = 0; turn < 3; turn++) expect(await client.request(get)).toEqual({ fine: true })
  expect(server.asked.map(({ user, connection }) => [user, connection])).toEqual([
    ['client', 1],
    ['client', 1],
    ['client', 1],
  ])
})

test('acts as somebody else where it shall, and says so', async () => {
  const server = await serverOf(fine)
  await clientOf([server.url], { as: 'hyperkube:controller:a' }).request(get)
  await clientOf([server.url]).request(get)
  expect(server.asked.map(({ user, as }) => [user, as])).toEqual([
    ['client', 'hyperkube:controller:a'],
    ['client', undefined],
  ])
})

test('sends nothing once its guard says no, also not again', async () => {
  const server = await serverOf({ status: 503, text: '' })
  let asked = 0
  const over = new Error('no longer the leader')
  const guard = (): void => {
    if (++asked > 2) throw over
  }
  const client = clientOf([server.url], { guard })
  await expect(client.request(get)).rejects.toBe(over)
  await expect(client.stream(get)).rejects.toBe(over)
  expect(server.asked).toHaveLength(2)
})

test('a slash at the end of an address is not part of the path', async () => {
  const server = await serverOf(fine)
  await clientOf([`${server.url}/`]).request(get)
  expect(server.asked[0]?.path).toBe(path)
})

test('without servers there is nobody to ask', async () => {
  await expect(clientOf([]).request(get)).rejects.toMatchObject({
    code: 'KUBE_UNREACHABLE',
    message: 'GET /api/v1/nodes: there is no server to ask',
  })
})

test('says what it is told: query, body, and what kind of body', async () => {
  const server = await serverOf(fine)
  const query = { limit: 50, force: true, labelSelector: 'a=b,c!=d', continue: undefined }
  await clientOf([server.url]).request({
    method: 'PATCH',
    path,
    query,
    body: { ü: 1 },
    contentType: 'application/apply-patch+yaml',
  })
  expect(server.asked).toMatchObject([
    { method: 'PATCH', path, contentType: 'application/apply-patch+yaml', body: { ü: 1 } },
  ])
  expect(server.asked[0]?.query.toString()).toBe('limit=50&force=true&labelSelector=a%3Db%2Cc%21%3Dd')
})

describe('what the API refuses is told in its own words', () => {
  test.each([
    [400, 'KUBE_INVALID'],
    [401, 'KUBE_UNAUTHORIZED'],
    [403, 'KUBE_FORBIDDEN'],
    [404, 'KUBE_NOT_FOUND'],
    [409, 'KUBE_CONFLICT'],
    [410, 'KUBE_EXPIRED'],
    [422, 'KUBE_INVALID'],
    [500, 'KUBE_SERVER'],
  ])('%i', async (status, code) => {
    const server = await serverOf({
      status,
      json: {
        kind: 'Status',
        message: 'no, and why',
        reason: 'Because',
        details: { causes: [{ reason: 'FieldValueInvalid', message: 'too long', field: 'spec.name' }] },
      },
    })
    await expect(clientOf([server.url]).request(get)).rejects.toMatchObject({
      code,
      status,
      reason: 'Because',
      said: 'no, and why',
      message: 'GET /api/v1/nodes: no, and why; spec.name too long',
      causes: [{ reason: 'FieldValueInvalid', message: 'too long', field: 'spec.name' }],
    })
    expect(server.asked).toHaveLength(1)
  })

  test('also when it is no JSON', async () => {
    const server = await serverOf({ status: 403, text: 'go away\u001B[2J\n' })
    await expect(clientOf([server.url]).request(get)).rejects.toMatchObject({
      code: 'KUBE_FORBIDDEN',
      message: String.raw`GET /api/v1/nodes: go away\u001b[2J`,
    })
  })
})

describe('again', () => {
  const passing: TestAnswer[] = [
    { status: 503, text: 'no etcd' },
    { status: 504, text: 'too slow' },
    { status: 429, text: 'crowd' },
    { cut: 'before' },
    { cut: 'within' },
  ]

  test.each(passing)('a GET after %j', async (failure) => {
    const server = await serverOf(failure, failure, fine)
    expect(await clientOf([server.url]).request(get)).toEqual({ fine: true })
    expect(server.asked).toHaveLength(3)
  })

  test.each(passing.filter((answer) => !('status' in answer && answer.status === 429)))(
    'not a POST after %j',
    async (failure) => {
      const server = await serverOf(failure, fine)
      await expect(clientOf([server.url]).request(post)).rejects.toThrow(path)
      expect(server.asked).toHaveLength(1)
    },
  )

  test('of a POST that may have been done, that is said', async () => {
    const server = await serverOf({ cut: 'before' })
    await expect(clientOf([server.url]).request(post)).rejects.toMatchObject({
      code: 'KUBE_UNREACHABLE',
      hint: 'it may have been done all the same: look before you do it again',
    })
  })

  test.each([
    ['PUT with a version', { method: 'PUT', path, body: { metadata: { resourceVersion: '7' } } }, 2],
    ['PUT without one', { method: 'PUT', path, body: { metadata: {} } }, 1],
    ['apply', { method: 'PATCH', path, body: {}, contentType: 'application/apply-patch+yaml' }, 2],
    ['other PATCH', { method: 'PATCH', path, body: {}, contentType: 'application/merge-patch+json' }, 1],
    ['DELETE', { method: 'DELETE', path }, 2],
  ] as const)('%s', async (_, request, times) => {
    const server = await serverOf({ cut: 'before' }, fine)
    await clientOf([server.url])
      .request(request)
      .catch(() => undefined)
    expect(server.asked).toHaveLength(times)
  })

  test('Retry-After is waited for, also by a POST', async () => {
    const server = await serverOf({ status: 429, headers: { 'retry-after': '1' }, text: 'crowd' }, fine)
    const started = performance.now()
    expect(await clientOf([server.url]).request(post)).toEqual({ fine: true })
    expect(performance.now() - started).toBeGreaterThanOrEqual(999)
  })

  test('not when the time would be over: then what was said is told at once', async () => {
    const server = await serverOf({ status: 429, headers: { 'retry-after': '50' }, text: 'crowd' })
    const started = performance.now()
    const request = { ...get, timeout: 40_000 }
    await expect(clientOf([server.url]).request(request)).rejects.toMatchObject({ code: 'KUBE_TOO_MANY' })
    expect(performance.now() - started).toBeLessThan(30_000)
  })

  test('until the time is over', async () => {
    const server = await serverOf({ status: 503, text: 'no etcd' })
    const client = clientOf([server.url], { timing: { timeout: 2000, backoff: { first: 200, most: 200 } } })
    await expect(client.request(get)).rejects.toMatchObject({ code: 'KUBE_SERVER', said: 'no etcd' })
    expect(server.asked.length).toBeGreaterThan(1)
  })

  test('not when it shall be asked once', async () => {
    const server = await serverOf({ status: 503, text: 'no etcd' }, fine)
    await expect(clientOf([server.url]).request({ ...get, once: true })).rejects.toMatchObject({
      code: 'KUBE_SERVER',
    })
  })
})

describe('several servers', () => {
  /** Nobody listens there. */
  async function nobody(): Promise<string> {
    await using server = await testServer(authority, () => fine)
    return server.url
  }

  test('the first that answers is asked, and the one that answered stays the first', async () => {
    const [away, server] = [await nobody(), await serverOf(fine)]
    const client = clientOf([away, server.url])
    await client.request(post)
    await client.request(get)
    expect(server.asked).toHaveLength(2)
    const back = await serve(() => fine, Number(new URL(away).port))
    await client.request(get)
    expect(back.asked).toHaveLength(0)
    expect(server.asked).toHaveLength(3)
  })

  test('one that is about to stop sends its guests on, without their waiting', async () => {
    const leaving = await serverOf({
      status: 429,
      headers: { 'retry-after': '30', connection: 'close' },
      text: 'shutting down',
    })
    const staying = await serverOf(fine)
    const started = performance.now()
    expect(await clientOf([leaving.url, staying.url]).request({ ...post, timeout: 40_000 })).toEqual({
      fine: true,
    })
    expect(performance.now() - started).toBeLessThan(30_000)
  })

  test('what one says is told, whoever was away before', async () => {
    const server = await serverOf({ status: 409, json: { kind: 'Status', reason: 'AlreadyExists' } })
    await expect(clientOf([await nobody(), server.url]).request(post)).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      status: 409,
      reason: 'AlreadyExists',
    })
  })

  test('one that is silent is left for the next', async () => {
    const [silent, server] = [await serverOf({ silent: true }), await serverOf(fine)]
    const client = clientOf([silent.url, server.url], { timing: { answer: 500 } })
    expect(await client.request(get)).toEqual({ fine: true })
    expect(silent.asked).toHaveLength(1)
  })

  test('one that has another authority is asked nothing, and the next is', async () => {
    const stranger = await serve(() => fine, 0, await testAuthority())
    const server = await serverOf(fine)
    expect(await clientOf([stranger.url, server.url]).request(post)).toEqual({ fine: true })
    expect(stranger.asked).toHaveLength(0)
    await expect(clientOf([stranger.url]).request(get)).rejects.toMatchObject({ code: 'KUBE_UNTRUSTED' })
  })

  test('when none answers, each is named', async () => {
    const away = [await nobody(), await nobody()]
    const error = await clientOf(away)
      .request({ ...get, once: true })
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'KUBE_UNREACHABLE' })
    expect(error).toHaveProperty('cause.errors.0.message', expect.stringContaining(away[0] ?? ''))
    expect(error).toHaveProperty('cause.errors.1.message', expect.stringContaining(away[1] ?? ''))
  })

  test('one alone may be asked, and no other in its place', async () => {
    const [one, other] = [await serverOf({ cut: 'before' }), await serverOf(fine)]
    await expect(
      clientOf([other.url]).request({ ...get, server: one.url, once: true }),
    ).rejects.toMatchObject({ code: 'KUBE_UNREACHABLE' })
    expect(other.asked).toHaveLength(0)
  })
})

describe('over a way of the caller’s', () => {
  const refused = new HyperkubeError('SSH_DIAL_REFUSED', 'nothing listens there')
  const away = 'https://10.255.255.1:6443'
  /** Nobody listens there, the first times. */
  const dialAfter = (refusals: number): { dial: Dial; dialled: string[] } => {
    const dialled: string[] = []
    const dial: Dial = async (host, port) => {
      dialled.push(`${host}:${port}`)
      if (dialled.length <= refusals) throw refused
      return connect({ host, port })
    }
    return { dial, dialled }
  }

  test('asks the next server when nobody listens at the first', async () => {
    const server = await serverOf(fine)
    const { dial, dialled } = dialAfter(1)
    expect(await clientOf([away, server.url], { dial }).request(post)).toEqual({ fine: true })
    expect(dialled).toEqual(['10.255.255.1:6443', new URL(server.url).host])
  })

  test('asks again until somebody listens', async () => {
    const server = await serverOf(fine)
    const { dial, dialled } = dialAfter(3)
    expect(await clientOf([server.url], { dial }).request(post)).toEqual({ fine: true })
    expect(dialled).toHaveLength(4)
  })

  test('a server where nobody listens is not ready, and that is told at once', async () => {
    const { dial, dialled } = dialAfter(1)
    expect(await ready(clientOf([], { dial }), away)).toEqual({
      ready: false,
      failing: [],
      reason: `GET /readyz: ${away}: no connection`,
    })
    expect(dialled).toHaveLength(1)
  })

  test('a way that is forbidden is not tried again', async () => {
    const forbidden = new HyperkubeError('SSH_FORWARD_FORBIDDEN', 'no')
    const client = clientOf([away], { dial: async () => Promise.reject(forbidden) })
    await expect(client.request(get)).rejects.toBe(forbidden)
    await expect(ready(client, away)).rejects.toBe(forbidden)
  })
})

describe('an abort ends it with its own reason', () => {
  const reason = new Error('enough')

  test('while waiting for an answer', async () => {
    const controller = new AbortController()
    const server = await serve(() => {
      controller.abort(reason)
      return { silent: true }
    })
    await expect(clientOf([server.url]).request({ ...get, signal: controller.signal })).rejects.toBe(reason)
  })

  test('while waiting to try again', async () => {
    const controller = new AbortController()
    const server = await serverOf({ status: 429, headers: { 'retry-after': '4' }, text: 'crowd' })
    // Asked for right before the wait begins.
    const random = (): number => {
      setImmediate(() => controller.abort(reason))
      return 0
    }
    const client = clientOf([server.url], { random })
    await expect(client.request({ ...get, signal: controller.signal })).rejects.toBe(reason)
  })

  test('of the whole client', async () => {
    const controller = new AbortController()
    const server = await serve(() => {
      controller.abort(reason)
      return { silent: true }
    })
    const client = clientOf([server.url], { signal: controller.signal })
    await expect(client.request(get)).rejects.toBe(reason)
    await expect(client.request(get)).rejects.toBe(reason)
    expect(server.asked).toHaveLength(1)
  })

  test('and no answer in time is no abort', async () => {
    const server = await serverOf({ silent: true })
    await expect(clientOf([server.url]).request({ ...get, timeout: 50 })).rejects.toMatchObject({
      code: 'KUBE_UNREACHABLE',
      message: 'GET /api/v1/nodes: no answer within 50 ms',
    })
  })
})

describe('credentials in files', () => {
  test('are read again when they have changed, and kept while they do not fit', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'credentials-'))
    try {
      const [certificate, privateKey] = [join(directory, 'crt'), join(directory, 'key')]
      await writeFile(certificate, authority.client.certificate)
      await writeFile(privateKey, authority.client.privateKey)
      const server = await serverOf(fine)
      const client = clientOf([server.url], {
        credentials: { certificate: { file: certificate }, privateKey: { file: privateKey } },
      })
      await client.request(get)
      await writeFile(certificate, authority.otherClient.certificate)
      await client.request(get)
      await writeFile(privateKey, authority.otherClient.privateKey)
      await client.request(get)
      expect(server.asked.map(({ user }) => user)).toEqual(['client', 'client', 'other-client'])
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  test('that are not there are named', async () => {
    const server = await serverOf(fine)
    const file = join(tmpdir(), 'there-is-no-such-file')
    const client = clientOf([server.url], { credentials: { ...authority.client, privateKey: { file } } })
    await expect(client.request(get)).rejects.toMatchObject({
      code: 'CREDENTIALS_NOT_READ',
      message: `credentials are of no use: ${file}`,
    })
  })
})
