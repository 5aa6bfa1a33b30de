import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createSnapshotDirectory } from '../testing/fixtures.ts'
import { buildCompletion, parseObjectPage, parseS3Error } from './responses.ts'
import { Bucket } from './bucket.ts'
import { createBucketStore } from './store.ts'

const { signal } = new AbortController()
let stack = new AsyncDisposableStack()
afterEach(async () => {
  const used = stack
  stack = new AsyncDisposableStack()
  await used.disposeAsync()
})

type Responder = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a server that handles each request with the next responder. */
async function startBucket(
  ...responders: readonly Responder[]
): Promise<{ bucket: Bucket; waits: number[] }> {
  const remaining = [...responders]
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => (remaining.shift() ?? status(500))(request, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const waits: number[] = []
  const options = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'here',
    bucket: 'backups',
    accessKey: 'access',
    secretKey: 'secret',
  }
  return { bucket: new Bucket(options, async (pause) => void waits.push(pause)), waits }
}

const status =
  (code: number, body = ''): Responder =>
  (_, response) =>
    response.writeHead(code).end(body)
const error = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>it &lt;said&gt; no</Message></Error>`
const page = (names: readonly string[], next?: string): string =>
  `<ListBucketResult>${names.map((name) => `<Contents><Key>${name}</Key><LastModified>2026-11-15T12:00:00.000Z</LastModified><Size>7</Size></Contents>`).join('')}${next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`}</ListBucketResult>`

test('all pages are listed, and objects that are not snapshots are skipped', async () => {
  const requests: string[] = []
  const respondWith =
    (body: string): Responder =>
    (request, response) => {
      requests.push(request.url ?? '')
      response.end(body)
    }
  const { bucket } = await startBucket(
    respondWith(page(['shop/b.snapshot', 'shop/notes.txt'], 'a&amp;b')),
    respondWith(page(['shop/a.snapshot', 'shop/../evil.snapshot'])),
  )
  const stored = await createBucketStore(bucket, 'shop').list(signal)
  expect(stored.map(({ name }) => name)).toEqual(['a.snapshot', 'b.snapshot'])
  expect(requests[1]).toContain('continuation-token=a%26b')
})

test('temporary errors are retried, others are not', async () => {
  const busy = await startBucket(
    status(503, error('SlowDown')),
    status(500),
    status(200, page(['a.snapshot'])),
  )
  expect(await createBucketStore(busy.bucket).list(signal)).toHaveLength(1)
  expect(busy.waits).toEqual([500, 2000])
  const denied = await startBucket(status(403, error('SignatureDoesNotMatch')))
  await expect(createBucketStore(denied.bucket).list(signal)).rejects.toMatchObject({
    code: 'SNAPSHOT_STORE_DENIED',
    message: 's3://backups: list: status 403 SignatureDoesNotMatch it <said> no',
  })
  expect(denied.waits).toEqual([])
})

test.each([
  [404, 'NoSuchBucket', 'SNAPSHOT_STORE_UNKNOWN'],
  [404, 'NoSuchKey', 'SNAPSHOT_STORE_FAILED'],
  [301, 'PermanentRedirect', 'SNAPSHOT_STORE_FAILED'],
  [503, 'SlowDown', 'SNAPSHOT_STORE_UNREACHABLE'],
])('status %i %s is reported as %s', async (code, word, expected) => {
  const { bucket } = await startBucket(...Array.from({ length: 4 }, () => status(code, error(word))))
  await expect(createBucketStore(bucket).list(signal)).rejects.toMatchObject({ code: expected })
})

test('a closed connection is reported as unreachable', async () => {
  const { bucket } = await startBucket(
    ...Array.from(
      { length: 4 },
      (): Responder =>
        ({ socket }) =>
          socket.destroy(),
    ),
  )
  await expect(createBucketStore(bucket).list(signal)).rejects.toMatchObject({
    code: 'SNAPSHOT_STORE_UNREACHABLE',
  })
})

test('a request does not contain the secret key', async () => {
  let sent = ''
  const { bucket } = await startBucket((request, response) => {
    sent = JSON.stringify([request.url, request.headers])
    response.end(page([]))
  })
  await createBucketStore(bucket).list(signal)
  expect(sent).toContain('Credential=access/')
  expect(sent).not.toContain('secret')
})

test('a read resumes at the same offset after a lost connection', async () => {
  const ranges: (string | undefined)[] = []
  const { bucket } = await startBucket(
    (_, response) => {
      response.writeHead(200, { etag: '"x"', 'content-length': 10 })
      response.write('01234', () => response.destroy())
    },
    (request, response) => {
      ranges.push(request.headers.range, request.headers['if-match'])
      response.writeHead(206, { etag: '"x"', 'content-length': 5 }).end('56789')
    },
  )
  const bytes = await Array.fromAsync(createBucketStore(bucket).read('a.snapshot', signal))
  expect(Buffer.concat(bytes).toString()).toBe('0123456789')
  expect(ranges).toEqual(['bytes=5-', '"x"'])
})

test.each([
  [403, 'AccessDenied', 'SNAPSHOT_STORE_DENIED'],
  [404, 'NoSuchKey', 'SNAPSHOT_STORE_FAILED'],
])('a read with status %i %s is reported as %s, not as a lost connection', async (code, word, expected) => {
  const { bucket } = await startBucket(status(code, error(word)))
  const read = Array.fromAsync(createBucketStore(bucket).read('a.snapshot', signal))
  await expect(read).rejects.toMatchObject({
    code: expected,
    message: `s3://backups: read a.snapshot: status ${code} ${word} it <said> no`,
  })
})

test('an upload whose stored size differs is reported as failed', async () => {
  await using directory = await createSnapshotDirectory()
  await writeFile(directory.at('file'), 'content')
  const { bucket } = await startBucket(status(200), (_, response) =>
    response.writeHead(200, { 'content-length': 3 }).end(),
  )
  const upload = createBucketStore(bucket).put('a.snapshot', directory.at('file'), () => undefined, signal)
  await expect(upload).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_FAILED' })
})

describe('an upload in parts whose completion has no response', () => {
  const lost: Responder = (_, response) => response.destroy()
  const sizeOf =
    (size: number): Responder =>
    (_, response) =>
      response.writeHead(200, { 'content-length': size }).end()
  const upload = async (...afterParts: readonly Responder[]): Promise<void> => {
    await using directory = await createSnapshotDirectory()
    await writeFile(directory.at('file'), Buffer.alloc(9 << 20))
    const started = status(200, '<UploadId>1</UploadId>')
    const { bucket } = await startBucket(started, status(200), status(200), ...afterParts)
    await createBucketStore(bucket).put('a.snapshot', directory.at('file'), () => undefined, signal)
  }

  test('succeeds if the object is complete', async () => {
    const complete = sizeOf(9 << 20)
    const done = upload(lost, status(404, error('NoSuchUpload')), complete, complete)
    await expect(done).resolves.toBeUndefined()
  })

  test.each([
    ['does not exist', status(404)],
    ['is an older one', sizeOf(3)],
  ])('fails if the object %s', async (_, stored) => {
    const failed = upload(lost, status(404, error('NoSuchUpload')), stored, status(204))
    await expect(failed).rejects.toThrow('NoSuchUpload')
  })
})

test('S3 responses are parsed, and unknown responses are ignored', () => {
  expect(parseObjectPage('<html>hello</html>')).toEqual({ objects: [], next: undefined })
  expect(parseObjectPage(page(['a&amp;b&#99;&#x64;&what;'])).objects[0]?.name).toBe('a&bcd&what;')
  expect(parseS3Error('<html/>')).toBeUndefined()
  expect(buildCompletion(['"a&b"', '"c"'])).toBe(
    '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"a&amp;b"</ETag></Part>' +
      '<Part><PartNumber>2</PartNumber><ETag>"c"</ETag></Part></CompleteMultipartUpload>',
  )
})
