import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { testBench } from './testing/kube-test-bench.ts'

let authority: TestAuthority
const { serve, serverOf, clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const get = { method: 'GET', path: '/api/v1/nodes' } as const

test('a stream lasts longer than the time in which it has to begin', async () => {
  const server = await serve(() => ({
    by: (response) => {
      response.write('first ')
      setTimeout(() => response.end('second'), 1300)
    },
  }))
  const stream = await clientOf([server.url]).stream({ ...get, timeout: 1000 })
  expect(Buffer.concat(await stream.toArray()).toString('utf8')).toBe('first second')
})

test('a stream comes from whichever server answers', async () => {
  const away = await serverOf({ cut: 'before' })
  const there = await serverOf({ status: 200, text: 'here' })
  const stream = await clientOf([away.url, there.url]).stream({ ...get, once: true })
  expect(Buffer.concat(await stream.toArray()).toString('utf8')).toBe('here')
})

test('a refusal is told as for any request, with when to come again', async () => {
  const server = await serverOf({ status: 429, headers: { 'retry-after': '7' }, text: 'later' })
  await expect(clientOf([server.url]).stream({ ...get, once: true })).rejects.toMatchObject({
    code: 'KUBE_TOO_MANY',
    retryAfter: 7000,
  })
})

test('a refusal that does not end takes no longer than the request', async () => {
  const server = await serve(() => ({ by: (response) => response.writeHead(403).write('it is') }))
  await expect(clientOf([server.url]).stream({ ...get, timeout: 60, once: true })).rejects.toMatchObject({
    code: 'KUBE_UNREACHABLE',
  })
})

test('the signal ends a stream that has begun, and so does the end of the client', async () => {
  const server = await serve(() => ({ by: (response) => response.write('it is') }))
  const stop = new AbortController()
  const client = clientOf([server.url])
  const [one, other] = [await client.stream({ ...get, signal: stop.signal }), await client.stream(get)]
  stop.abort()
  await expect(one.toArray()).rejects.toThrow('aborted')
  client.close()
  await expect(other.toArray()).rejects.toThrow('aborted')
})
