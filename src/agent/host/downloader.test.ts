import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addProxyLogin } from '../../kit/http-route.ts'
import { startLoginProxy } from '../../kit/testing/login-proxy.ts'
import { startPrivateServer } from '../../kit/testing/private-server.ts'
import { createTestCa } from '../../kit/testing/test-ca.ts'
import type { Clock } from './clock.ts'
import { createHttpDownloader } from './downloader.ts'
import { createPathMapper } from './local-files.ts'

const content = Buffer.from('0123456789'.repeat(1000))
const sha256 = createHash('sha256').update(content).digest('hex')
const never = new AbortController().signal

type Respond = (request: IncomingMessage, response: ServerResponse) => void

let root: string
let server: Server
let url: string
let responses: Respond[]
let ranges: (string | undefined)[]
const pauses: number[] = []
let arrivals: EventEmitter<{ progress: [number] }>

const clock: Clock = {
  now: () => new Date(),
  pause: async (milliseconds) => void pauses.push(milliseconds),
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'fetch-'))
  responses = []
  ranges = []
  arrivals = new EventEmitter()
  pauses.length = 0
  server = createServer((request, response) => {
    ranges.push(request.headers.range)
    // The server repeats the last response.
    const respond = responses.length > 1 ? responses.shift() : responses[0]
    respond?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/file`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await rm(root, { recursive: true, force: true })
})

const respondWhole: Respond = (_, response) => response.end(content)
/** Returns a response that announces the full length but closes the connection after `end` bytes. */
const respondUntil =
  (end: number): Respond =>
  (request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.writeHead(from === 0 ? 200 : 206, {
      'content-length': content.length - from,
      ...(from === 0 ? {} : { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
    })
    response.write(content.subarray(from, end))
    // Waits until the client has received the bytes, because data in transit is lost when a connection
    // breaks.
    arrivals.on('progress', (done) => void (done >= end && response.destroy()))
  }
const respondRange: Respond = (request, response) => {
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
  if (from >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end()
    return
  }
  response
    .writeHead(206, { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` })
    .end(content.subarray(from))
}

async function download(maxBytes = 1_000_000, stallMs?: number): Promise<string> {
  const progress = (done: number): void => void arrivals.emit('progress', done)
  const fetcher = createHttpDownloader(createPathMapper(root), clock, stallMs)
  return fetcher.download({ url, into: '/part', maxBytes, progress, signal: never })
}

test('a complete download returns the digest of the file', async () => {
  responses = [respondWhole]
  expect(await download()).toBe(sha256)
  expect(await readFile(join(root, 'part'))).toEqual(content)
})

test('a file larger than the write buffer keeps its bytes in order', async () => {
  const large = Buffer.alloc(5_000_000, content)
  responses = [(_, response) => response.end(large)]
  expect(await download(large.length)).toBe(createHash('sha256').update(large).digest('hex'))
  expect(large.equals(await readFile(join(root, 'part')))).toBe(true)
})

test('an interrupted download of a large file resumes at its last byte', async () => {
  const large = Buffer.alloc(5_000_000, content)
  responses = [
    (_, response) => {
      response.writeHead(200, { 'content-length': large.length })
      response.write(large.subarray(0, 3_000_000), () => response.destroy())
    },
    (request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1])
      response
        .writeHead(206, { 'content-range': `bytes ${from}-${large.length - 1}/${large.length}` })
        .end(large.subarray(from))
    },
  ]
  expect(await download(large.length)).toBe(createHash('sha256').update(large).digest('hex'))
  expect(large.equals(await readFile(join(root, 'part')))).toBe(true)
})

test('a download that is interrupted twice resumes each time, after the shortest delay', async () => {
  responses = [respondUntil(3000), respondUntil(7000), respondRange]
  expect(await download()).toBe(sha256)
  expect(ranges).toEqual([undefined, 'bytes=3000-', 'bytes=7000-'])
  expect(await readFile(join(root, 'part'))).toEqual(content)
  // Progress resets the retry delay.
  expect(pauses).toEqual([500, 500])
})

test('a partial file of a previous run is not downloaded again', async () => {
  await writeFile(join(root, 'part'), content.subarray(0, 9000))
  responses = [respondRange]
  expect(await download()).toBe(sha256)
  expect(ranges).toEqual(['bytes=9000-'])
})

test('a complete file is accepted after a range request', async () => {
  await writeFile(join(root, 'part'), content)
  responses = [respondRange]
  expect(await download()).toBe(sha256)
})

test('a server without range support replaces the partial file', async () => {
  await writeFile(join(root, 'part'), 'something else')
  responses = [respondWhole]
  expect(await download()).toBe(sha256)
  expect(await readFile(join(root, 'part'))).toEqual(content)
})

test('a partial file that is longer than the file is discarded', async () => {
  await writeFile(join(root, 'part'), Buffer.concat([content, content]))
  responses = [respondRange, respondWhole]
  expect(await download()).toBe(sha256)
})

test('a failing server is retried with growing delays, and then reported', async () => {
  responses = [(_, response) => response.writeHead(503).end()]
  await expect(download()).rejects.toMatchObject({ code: 'FETCH_SERVER_ERROR' })
  expect(pauses).toEqual([500, 2000, 5000, 10_000])
})

test('a missing file is requested once', async () => {
  responses = [(_, response) => response.writeHead(404).end()]
  await expect(download()).rejects.toMatchObject({ code: 'FETCH_NOT_FOUND' })
  expect(ranges).toHaveLength(1)
})

test('a file above the size limit is refused, with or without a content length', async () => {
  responses = [respondWhole]
  await expect(download(9999)).rejects.toMatchObject({ code: 'FETCH_TOO_LARGE' })
  responses = [(_, response) => void response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(content)]
  await expect(download(9999)).rejects.toMatchObject({ code: 'FETCH_TOO_LARGE' })
})

test('redirects are followed, but not to other schemes than http and https', async () => {
  responses = [(_, response) => response.writeHead(302, { location: '/other' }).end(), respondWhole]
  expect(await download()).toBe(sha256)
  responses = [(_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()]
  await rm(join(root, 'part'))
  await expect(download()).rejects.toMatchObject({ code: 'FETCH_INSECURE' })
})

test('a stalled download is resumed over a new connection', async () => {
  responses = [
    (_, response) => void response.writeHead(200, { 'content-length': 5 }).write('ab'),
    respondRange,
  ]
  await download(1_000_000, 100)
  expect(ranges.length).toBeGreaterThan(1)
})

test('an abort ends a download', async () => {
  responses = [() => undefined]
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 20)
  const options = { url, into: '/part', maxBytes: 10, progress: () => undefined, signal: abort.signal }
  await expect(createHttpDownloader(createPathMapper(root), clock).download(options)).rejects.toThrow(
    'aborted',
  )
})

test('a large file passes a proxy with a login and TLS of a private CA unchanged', async () => {
  const ca = await createTestCa()
  const large = Buffer.alloc(20_000_000, 'some content of a large file')
  await using site = await startPrivateServer(ca, (_, response) => response.end(large))
  await using proxy = await startLoginProxy('me', 'secret')
  const https = addProxyLogin(proxy.url, { username: 'me', password: 'secret' })
  const servers = [{ host: site.host, ca: ca.certificate }]
  const downloader = createHttpDownloader(createPathMapper(root), clock)
  const options = {
    url: site.namedUrl,
    into: '/part',
    maxBytes: 1e9,
    progress: () => undefined,
    signal: never,
  }
  const route = { proxy: { https, no: [] }, servers }
  expect(await downloader.download({ ...options, route })).toBe(
    createHash('sha256').update(large).digest('hex'),
  )
  expect(proxy.targets).toEqual([site.host])
  const wrong = { ...route, proxy: { https: proxy.url, no: [] } }
  await expect(downloader.download({ ...options, route: wrong })).rejects.toMatchObject({
    code: 'PROXY_LOGIN_REFUSED',
  })
  await expect(downloader.download({ ...options, route: { ...route, servers: [] } })).rejects.toMatchObject({
    code: 'FETCH_CA_UNKNOWN',
  })
  expect(pauses).toEqual([])
})

test('memory of received data is freed before the garbage collector runs', async () => {
  const block = Buffer.alloc(1 << 20, 'x')
  const blocks = 96
  responses = [
    (_, response) => {
      response.writeHead(200, { 'content-length': blocks * block.length })
      let sent = 0
      const send = (): void => {
        while (sent < blocks) {
          sent++
          if (!response.write(block)) {
            response.once('drain', send)
            return
          }
        }
        response.end()
      }
      send()
    },
  ]
  let most = 0
  const before = process.memoryUsage().arrayBuffers
  const measure = (): void => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  const expected = createHash('sha256')
  for (let index = 0; index < blocks; index++) expected.update(block)
  const downloader = createHttpDownloader(createPathMapper(root), clock)
  const options = { url, into: '/large', maxBytes: 1e9, progress: measure, signal: never }
  expect(await downloader.download(options)).toBe(expected.digest('hex'))
  expect(most).toBeLessThan(8 << 20)
})
