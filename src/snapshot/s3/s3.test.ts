import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { temporaryDirectory } from '../testing/fixtures.ts'
import { completion, objectPage, refusal } from './responses.ts'
import { Bucket } from './bucket.ts'
import { bucketStore } from './store.ts'

const { signal } = new AbortController()
let stack = new AsyncDisposableStack()
afterEach(async () => {
  const used = stack
  stack = new AsyncDisposableStack()
  await used.disposeAsync()
})

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A server of which each question is answered by the next one. */
async function bucketOf(...answers: readonly Answer[]): Promise<{ bucket: Bucket; waits: number[] }> {
  const left = [...answers]
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => (left.shift() ?? status(500))(request, response))
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
  (code: number, body = ''): Answer =>
  (_, response) =>
    response.writeHead(code).end(body)
const error = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>it &lt;said&gt; no</Message></Error>`
const page = (names: readonly string[], next?: string): string =>
  `<ListBucketResult>${names.map((name) => `<Contents><Key>${name}</Key><LastModified>2026-11-15T12:00:00.000Z</LastModified><Size>7</Size></Contents>`).join('')}${next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`}</ListBucketResult>`

test('all pages are listed, without what is no snapshot', async () => {
  const asked: string[] = []
  const answer =
    (body: string): Answer =>
    (request, response) => {
      asked.push(request.url ?? '')
      response.end(body)
    }
  const { bucket } = await bucketOf(
    answer(page(['shop/b.snapshot', 'shop/notes.txt'], 'a&amp;b')),
    answer(page(['shop/a.snapshot', 'shop/../evil.snapshot'])),
  )
  const stored = await bucketStore(bucket, 'shop').list(signal)
  expect(stored.map(({ name }) => name)).toEqual(['a.snapshot', 'b.snapshot'])
  expect(asked[1]).toContain('continuation-token=a%26b')
})

test('what passes is asked again after a while, and what does not is not', async () => {
  const busy = await bucketOf(status(503, error('SlowDown')), status(500), status(200, page(['a.snapshot'])))
  expect(await bucketStore(busy.bucket).list(signal)).toHaveLength(1)
  expect(busy.waits).toEqual([500, 2000])
  const denied = await bucketOf(status(403, error('SignatureDoesNotMatch')))
  await expect(bucketStore(denied.bucket).list(signal)).rejects.toMatchObject({
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
])('%i %s is %s', async (code, word, expected) => {
  const { bucket } = await bucketOf(...Array.from({ length: 4 }, () => status(code, error(word))))
  await expect(bucketStore(bucket).list(signal)).rejects.toMatchObject({ code: expected })
})

test('nobody listens', async () => {
  const { bucket } = await bucketOf(
    ...Array.from(
      { length: 4 },
      (): Answer =>
        ({ socket }) =>
          socket.destroy(),
    ),
  )
  await expect(bucketStore(bucket).list(signal)).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_UNREACHABLE' })
})

test('no secret is in what is sent', async () => {
  let seen = ''
  const { bucket } = await bucketOf((request, response) => {
    seen = JSON.stringify([request.url, request.headers])
    response.end(page([]))
  })
  await bucketStore(bucket).list(signal)
  expect(seen).toContain('Credential=access/')
  expect(seen).not.toContain('secret')
})

test('a connection that is cut goes on where it was', async () => {
  const ranges: (string | undefined)[] = []
  const { bucket } = await bucketOf(
    (_, response) => {
      response.writeHead(200, { etag: '"x"', 'content-length': 10 })
      response.write('01234', () => response.destroy())
    },
    (request, response) => {
      ranges.push(request.headers.range, request.headers['if-match'])
      response.writeHead(206, { etag: '"x"', 'content-length': 5 }).end('56789')
    },
  )
  const bytes = await Array.fromAsync(bucketStore(bucket).read('a.snapshot', signal))
  expect(Buffer.concat(bytes).toString()).toBe('0123456789')
  expect(ranges).toEqual(['bytes=5-', '"x"'])
})

test('what is there afterwards is not as large as what was put', async () => {
  await using directory = await temporaryDirectory()
  await writeFile(directory.at('file'), 'content')
  const { bucket } = await bucketOf(status(200), (_, response) =>
    response.writeHead(200, { 'content-length': 3 }).end(),
  )
  const putting = bucketStore(bucket).put('a.snapshot', directory.at('file'), () => undefined, signal)
  await expect(putting).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_FAILED' })
})

test('answers are read as they are written, and strange ones not at all', () => {
  expect(objectPage('<html>hello</html>')).toEqual({ objects: [], next: undefined })
  expect(objectPage(page(['a&amp;b&#99;&#x64;&what;'])).objects[0]?.name).toBe('a&bcd&what;')
  expect(refusal('<html/>')).toBeUndefined()
  expect(completion(['"a&b"', '"c"'])).toBe(
    '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"a&amp;b"</ETag></Part>' +
      '<Part><PartNumber>2</PartNumber><ETag>"c"</ETag></Part></CompleteMultipartUpload>',
  )
})
