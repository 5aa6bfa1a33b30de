import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Bucket } from '../../src/snapshot/s3/bucket.ts'
import { createBucketStore } from '../../src/snapshot/s3/store.ts'
import type { SnapshotStore } from '../../src/snapshot/store.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'

const { signal } = new AbortController()
let server: S3Server
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 's3-files-'))
  server = await startS3Server()
  // The timeout is long, because the first run builds the server.
}, 900_000)
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

async function readAll(store: SnapshotStore, name: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(store.read(name, signal)))
}

test.each([
  ['a small one at once', 100_000],
  ['a large one in parts', 20 << 20],
])('%s: what was put into a bucket is listed, read and removed', async (_, size) => {
  const store = createBucketStore(new Bucket(server), 'clusters/shop')
  expect(store.title).toBe('s3://backups/clusters/shop/')
  const bytes = randomBytes(size)
  const file = join(directory, 'file')
  await writeFile(file, bytes)
  const progress: number[] = []
  await store.put('a.snapshot', file, (done) => progress.push(done), signal)
  expect(progress.at(-1)).toBe(size)
  expect(await store.list(signal)).toEqual([{ name: 'a.snapshot', size, modified: expect.any(Date) }])
  expect((await readAll(store, 'a.snapshot')).equals(bytes)).toBe(true)
  // A store does not list objects outside its prefix.
  expect(await createBucketStore(new Bucket(server)).list(signal)).toEqual([])
  await store.remove('a.snapshot', signal)
  expect(await store.list(signal)).toEqual([])
})

test('wrong credentials and a missing bucket have different errors', async () => {
  const wrongCredentials = createBucketStore(new Bucket({ ...server, secretKey: 'another' }))
  await expect(wrongCredentials.list(signal)).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_DENIED' })
  const missingBucket = createBucketStore(new Bucket({ ...server, bucket: 'nowhere' }))
  await expect(missingBucket.list(signal)).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_UNKNOWN' })
})

test('an upload that is interrupted leaves nothing behind', async () => {
  const store = createBucketStore(new Bucket(server))
  const file = join(directory, 'large')
  await writeFile(file, randomBytes(30 << 20))
  const stop = new AbortController()
  const upload = store.put('cut.snapshot', file, () => stop.abort(new Error('enough')), stop.signal)
  await expect(upload).rejects.toThrow('enough')
  expect(await store.list(signal)).toEqual([])
  const bucket = new Bucket(server)
  const { text } = await bucket.request(
    { method: 'GET', description: 'list uploads', query: { uploads: '' } },
    signal,
  )
  expect(text).not.toContain('<UploadId>')
})
