import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'

let ca: TestCa
const { serve, serveResponses, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const get = { method: 'GET', path: '/api/v1/nodes' } as const

test('a stream may last longer than the request timeout', async () => {
  const server = await serve(() => ({
    by: (response) => {
      response.write('first ')
      setTimeout(() => response.end('second'), 1300)
    },
  }))
  const stream = await createClient([server.url]).stream({ ...get, timeout: 1000 })
  expect(Buffer.concat(await stream.toArray()).toString('utf8')).toBe('first second')
})

test('a stream comes from the next server if the first one is unreachable', async () => {
  const unreachable = await serveResponses({ cut: 'before' })
  const there = await serveResponses({ status: 200, text: 'here' })
  const stream = await createClient([unreachable.url, there.url]).stream({ ...get, once: true })
  expect(Buffer.concat(await stream.toArray()).toString('utf8')).toBe('here')
})

test('a refused stream is an error with Retry-After', async () => {
  const server = await serveResponses({ status: 429, headers: { 'retry-after': '7' }, text: 'later' })
  await expect(createClient([server.url]).stream({ ...get, once: true })).rejects.toMatchObject({
    code: 'KUBE_TOO_MANY',
    retryAfter: 7000,
  })
})

test('a refusal with an endless body ends at the request timeout', async () => {
  const server = await serve(() => ({ by: (response) => response.writeHead(403).write('it is') }))
  await expect(createClient([server.url]).stream({ ...get, timeout: 60, once: true })).rejects.toMatchObject({
    code: 'KUBE_UNREACHABLE',
  })
})

test('an abort signal ends a started stream, and so does closing the client', async () => {
  const server = await serve(() => ({ by: (response) => response.write('it is') }))
  const stop = new AbortController()
  const client = createClient([server.url])
  const [one, other] = [await client.stream({ ...get, signal: stop.signal }), await client.stream(get)]
  stop.abort()
  await expect(one.toArray()).rejects.toThrow('aborted')
  client.close()
  await expect(other.toArray()).rejects.toThrow('aborted')
})
