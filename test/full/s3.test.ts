import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Bucket } from '../../src/snapshot/s3/bucket.ts'
import { bucketStore } from '../../src/snapshot/s3/store.ts'
import type { SnapshotStore } from '../../src/snapshot/store.ts'
import { type S3Server, s3Server } from '../support/s3-server.ts'

const { signal } = new AbortController()
let server: S3Server
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 's3-files-'))
  server = await s3Server()
  // The first time it has to be built.
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
  const store = bucketStore(new Bucket(server), 'clusters/shop')
  expect(store.title).toBe('s3://backups/clusters/shop/')
  const bytes = randomBytes(size)
  const file = join(directory, 'file')
  await writeFile(file, bytes)
  const told: number[] = []
  await store.put('a.snapshot', file, (done) => told.push(done), signal)
  expect(told.at(-1)).toBe(size)
  expect(await store.list(signal)).toEqual([{ name: 'a.snapshot', size, modified: expect.any(Date) }])
  expect((await readAll(store, 'a.snapshot')).equals(bytes)).toBe(true)
  // What stands elsewhere in the bucket is not there.
  expect(await bucketStore(new Bucket(server)).list(signal)).toEqual([])
  await store.remove('a.snapshot', signal)
  expect(await store.list(signal)).toEqual([])
})

test('keys that are others, and a bucket that is none, are told apart', async () => {
  const strange = bucketStore(new Bucket({ ...server, secretKey: 'another' }))
  await expect(strange.list(signal)).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_DENIED' })
  const nowhere = bucketStore(new Bucket({ ...server, bucket: 'nowhere' }))
  await expect(nowhere.list(signal)).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_UNKNOWN' })
})

test('an upload that is interrupted leaves nothing behind', async () => {
  const store = bucketStore(new Bucket(server))
  const file = join(directory, 'large')
  await writeFile(file, randomBytes(30 << 20))
  const stop = new AbortController()
  const putting = store.put('cut.snapshot', file, () => stop.abort(new Error('enough')), stop.signal)
  await expect(putting).rejects.toThrow('enough')
  expect(await store.list(signal)).toEqual([])
  const bucket = new Bucket(server)
  const { text } = await bucket.ask({ method: 'GET', what: 'list uploads', query: { uploads: '' } }, signal)
  expect(text).not.toContain('<UploadId>')
})
