import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { httpFetch } from './http-downloader.ts'
import { placeBelow } from './local-path.ts'

const content = Buffer.from('0123456789'.repeat(1000))
const sha256 = createHash('sha256').update(content).digest('hex')
const never = new AbortController().signal

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let root: string
let server: Server
let url: string
let answers: Answer[]
let asked: (string | undefined)[]
const pauses: number[] = []
let arrivals: EventEmitter<{ progress: [number] }>

const clock: Clock = {
  now: () => new Date(),
  pause: async (milliseconds) => void pauses.push(milliseconds),
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'fetch-'))
  answers = []
  asked = []
  arrivals = new EventEmitter()
  pauses.length = 0
  server = createServer((request, response) => {
    asked.push(request.headers.range)
    // The last one answers all that follow.
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(request, response)
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

const whole: Answer = (_, response) => response.end(content)
/** Says how much there is, and breaks off. */
const cutAt =
  (end: number): Answer =>
  (request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.writeHead(from === 0 ? 200 : 206, {
      'content-length': content.length - from,
      ...(from === 0 ? {} : { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
    })
    response.write(content.subarray(from, end))
    // Not before it has arrived: what is under way when a connection breaks is lost.
    arrivals.on('progress', (done) => void (done >= end && response.destroy()))
  }
const ranged: Answer = (request, response) => {
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
  if (from >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end()
    return
  }
  response
    .writeHead(206, { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` })
    .end(content.subarray(from))
}

async function download(limit = 1_000_000, stall?: number): Promise<string> {
  const progress = (done: number): void => void arrivals.emit('progress', done)
  const fetcher = httpFetch(placeBelow(root), clock, stall)
  return fetcher.download({ url, into: '/part', limit, progress, signal: never })
}

test('a file comes as a whole, and its digest with it', async () => {
  answers = [whole]
  expect(await download()).toBe(sha256)
  expect(await readFile(join(root, 'part'))).toEqual(content)
})

test('what was cut goes on where it was', async () => {
  answers = [cutAt(3000), cutAt(7000), ranged]
  expect(await download()).toBe(sha256)
  expect(asked).toEqual([undefined, 'bytes=3000-', 'bytes=7000-'])
  expect(await readFile(join(root, 'part'))).toEqual(content)
  // As long as more comes, it is the first failure again.
  expect(pauses).toEqual([500, 500])
})

test('what a run before left is not fetched again', async () => {
  await writeFile(join(root, 'part'), content.subarray(0, 9000))
  answers = [ranged]
  expect(await download()).toBe(sha256)
  expect(asked).toEqual(['bytes=9000-'])
})

test('a file that is whole already costs one question', async () => {
  await writeFile(join(root, 'part'), content)
  answers = [ranged]
  expect(await download()).toBe(sha256)
})

test('who knows no ranges gives all, and it is taken from the beginning', async () => {
  await writeFile(join(root, 'part'), 'something else')
  answers = [whole]
  expect(await download()).toBe(sha256)
  expect(await readFile(join(root, 'part'))).toEqual(content)
})

test('a part that is longer than the file is thrown away', async () => {
  await writeFile(join(root, 'part'), Buffer.concat([content, content]))
  answers = [ranged, whole]
  expect(await download()).toBe(sha256)
})

test('a server that fails is asked again, longer and longer, and at last believed', async () => {
  answers = [(_, response) => response.writeHead(503).end()]
  await expect(download()).rejects.toMatchObject({ code: 'FETCH_SERVER_ERROR' })
  expect(pauses).toEqual([500, 2000, 5000, 10_000])
})

test('what is not there is asked for once', async () => {
  answers = [(_, response) => response.writeHead(404).end()]
  await expect(download()).rejects.toMatchObject({ code: 'FETCH_NOT_FOUND' })
  expect(asked).toHaveLength(1)
})

test('no more than the limit is taken, said or unsaid', async () => {
  answers = [whole]
  await expect(download(9999)).rejects.toMatchObject({ code: 'FETCH_TOO_LARGE' })
  answers = [(_, response) => void response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(content)]
  await expect(download(9999)).rejects.toMatchObject({ code: 'FETCH_TOO_LARGE' })
})

test('redirects are followed, but not out of the web', async () => {
  answers = [(_, response) => response.writeHead(302, { location: '/other' }).end(), whole]
  expect(await download()).toBe(sha256)
  answers = [(_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()]
  await rm(join(root, 'part'))
  await expect(download()).rejects.toMatchObject({ code: 'FETCH_INSECURE' })
})

test('silence is no connection', async () => {
  answers = [(_, response) => void response.writeHead(200, { 'content-length': 5 }).write('ab'), ranged]
  await download(1_000_000, 100)
  expect(asked.length).toBeGreaterThan(1)
})

test('an abort ends it', async () => {
  answers = [() => undefined]
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 20)
  const wish = { url, into: '/part', limit: 10, progress: () => undefined, signal: abort.signal }
  await expect(httpFetch(placeBelow(root), clock).download(wish)).rejects.toThrow('aborted')
})
