import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'

let ca: TestCa
const { serve, serveResponses, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const get = { method: 'GET', path: '/api/v1/nodes' } as const

test('a stream lasts longer than the time in which it has to begin', async () => {
  const server = await serve(() => ({
    by: (response) => {
      response.write('first ')
      setTimeout(() => response.end('second'), 1300)
    },
  }))
  const stream = await createClient([server.url]).stream({ ...get, timeout: 1000 })
  expect(Buffer.concat(await stream.toArray()).toString('utf8')).toBe('first second')
})

test('a stream comes from whichever server answers', async () => {
  const unreachable = await serveResponses({ cut: 'before' })
  const there = await serveResponses({ status: 200, text: 'here' })
  const stream = await createClient([unreachable.url, there.url]).stream({ ...get, once: true })
  expect(Buffer.concat(await stream.toArray()).toString('utf8')).toBe('here')
})

test('a refusal is an error as for any request, with Retry-After', async () => {
  const server = await serveResponses({ status: 429, headers: { 'retry-after': '7' }, text: 'later' })
  await expect(createClient([server.url]).stream({ ...get, once: true })).rejects.toMatchObject({
    code: 'KUBE_TOO_MANY',
    retryAfter: 7000,
  })
})

test('a refusal that does not end takes no longer than the request', async () => {
  const server = await serve(() => ({ by: (response) => response.writeHead(403).write('it is') }))
  await expect(createClient([server.url]).stream({ ...get, timeout: 60, once: true })).rejects.toMatchObject({
    code: 'KUBE_UNREACHABLE',
  })
})

test('the signal ends a stream that has begun, and so does the end of the client', async () => {
  const server = await serve(() => ({ by: (response) => response.write('it is') }))
  const stop = new AbortController()
  const client = createClient([server.url])
  const [one, other] = [await client.stream({ ...get, signal: stop.signal }), await client.stream(get)]
  stop.abort()
  await expect(one.toArray()).rejects.toThrow('aborted')
  client.close()
  await expect(other.toArray()).rejects.toThrow('aborted')
})
