import { assert, asyncProperty, integer } from 'fast-check'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { type TestResponse, startHttpsTestServer } from '../kit/testing/https-test-server.ts'
import { EtcdClient } from './client.ts'
import { parseDatabasePieces } from './database-pieces.ts'

const line = (blob: string, remaining: number): string =>
  `${JSON.stringify({ result: { blob: Buffer.from(blob).toString('base64'), remaining_bytes: String(remaining) } })}\n`
// etcd omits fields that are zero, here remaining_bytes.
const last = `${JSON.stringify({ result: { blob: Buffer.from('end').toString('base64') } })}\n`
const whole = Buffer.from(line('one', 6) + line('two', 3) + last)
const expected = [
  ['one', 6],
  ['two', 3],
  ['end', 0],
]

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Uint8Array, size = 10): Promise<unknown[]> {
  const pieces = await Array.fromAsync(parseDatabasePieces(chunked(bytes, size), 'https://a'))
  return pieces.map((piece) => [piece.bytes.toString(), piece.remaining])
}

test('chunks of any size give the same database pieces', async () => {
  await assert(
    asyncProperty(integer({ min: 1, max: whole.length }), async (size) => {
      expect(await read(whole, size)).toEqual(expected)
    }),
  )
})

test('an error in the stream is reported with the message of etcd', async () => {
  const bytes = Buffer.from(`${line('one', 6)}{"error":{"code":14,"message":"no more"}}\n`)
  await expect(read(bytes)).rejects.toMatchObject({
    code: 'ETCD_UNAVAILABLE',
    message: expect.stringContaining('no more'),
  })
})

test.each([
  ['a stream that ends within a line', whole.subarray(0, -1)],
  ['text that is not JSON', Buffer.from('hello\n')],
  ['a line that is too long', Buffer.alloc(2 << 20, 'x')],
])('%s is an invalid response', async (_, bytes) => {
  await expect(read(bytes, 10_000)).rejects.toMatchObject({ code: 'ETCD_INVALID_RESPONSE' })
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

async function startClient(response: TestResponse): Promise<{ client: EtcdClient; url: string }> {
  const server = stack.use(await startHttpsTestServer(ca, () => response))
  const { certificate, client: credentials } = ca
  const { signal } = new AbortController()
  const options = { endpoints: [server.url], ca: certificate, credentials, signal }
  return { client: stack.use(new EtcdClient(options)), url: server.url }
}

test('the client streams the database, and reports refusals, disconnects and timeouts', async () => {
  const healthy = await startClient({ status: 200, text: whole.toString() })
  expect(await Array.fromAsync(healthy.client.database(healthy.url))).toHaveLength(3)
  const refused = await startClient({ status: 503, json: { code: 14, message: 'etcdserver: not ready' } })
  await expect(Array.fromAsync(refused.client.database(refused.url))).rejects.toMatchObject({
    code: 'ETCD_UNAVAILABLE',
  })
  const cut = await startClient({ cut: 'middle' })
  await expect(Array.fromAsync(cut.client.database(cut.url))).rejects.toMatchObject({
    code: 'ETCD_UNREACHABLE',
  })
  const silent = await startClient({ silent: true })
  await expect(Array.fromAsync(silent.client.database(silent.url, { timeoutMs: 20 }))).rejects.toMatchObject({
    code: 'ETCD_UNREACHABLE',
  })
})

test('countKeys returns the number of keys and the revision', async () => {
  const some = await startClient({ json: { header: { revision: '7' }, count: '5' } })
  expect(await some.client.countKeys(some.url)).toEqual({ revision: 7, keys: 5 })
  const none = await startClient({ json: { header: { revision: '1' } } })
  expect(await none.client.countKeys(none.url)).toEqual({ revision: 1, keys: 0 })
})
