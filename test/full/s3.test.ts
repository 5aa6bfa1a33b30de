import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { findFreePort } from '../../src/kit/free-port.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { Bucket } from '../../src/snapshot/s3/bucket.ts'
import { createBucketStore } from '../../src/snapshot/s3/store.ts'
import type { SnapshotStore } from '../../src/snapshot/store.ts'

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
  ['a small snapshot in one part', 100_000],
  ['a large snapshot in several parts', 20 << 20],
])('%s is uploaded to a bucket, listed, read and removed', async (_, size) => {
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
  // A store without a prefix does not list objects of a store with a prefix.
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

test('an interrupted upload leaves no data in the bucket', async () => {
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

/** A real S3 server on the loopback address. */
interface S3Server extends AsyncDisposable {
  readonly endpoint: string
  readonly region: string
  /** The only bucket of the server. */
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
}

async function startS3Server(): Promise<S3Server> {
  const [built] = await buildComponents(selectParts(['versitygw']), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  const root = await mkdtemp(join(tmpdir(), 's3-'))
  const [bucket, region] = ['backups', 'eu-central-1']
  const [objects, metadata] = [join(root, 'objects'), join(root, 'metadata')]
  await mkdir(join(objects, bucket), { recursive: true })
  await mkdir(metadata)
  const [accessKey, secretKey] = [randomBytes(10).toString('hex'), randomBytes(20).toString('hex')]
  const address = `127.0.0.1:${await findFreePort()}`
  const child = spawn(
    join(built?.directory ?? '', 'versitygw'),
    ['--port', address, '--region', region, '--quiet', 'posix', '--sidecar', metadata, objects],
    {
      env: { ROOT_ACCESS_KEY_ID: accessKey, ROOT_SECRET_ACCESS_KEY: secretKey },
      stdio: 'ignore',
    },
  )
  const ended = once(child, 'close')
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    await rm(root, { recursive: true, force: true })
  }
  const endpoint = `http://${address}`
  try {
    await pollUntil('the server of buckets to answer', async () => (await fetch(endpoint)).status === 403, {
      timeoutMs: 20_000,
    })
  } catch (error) {
    await close()
    throw error
  }
  return { endpoint, region, bucket, accessKey, secretKey, [Symbol.asyncDispose]: close }
}
