import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Fetcher } from './fetcher.ts'
import { httpFetcher } from './http-fetcher.ts'
import { type Answer, memoryFetcher } from './testing/fake-fetcher.ts'
import { testServer } from './testing/fake-artifact-server.ts'

interface World extends AsyncDisposable {
  readonly fetcher: Fetcher
  readonly base: string
}
type Answers = (base: string) => Readonly<Record<string, Answer>>

const worlds: Readonly<Record<string, (answers: Answers) => Promise<World>>> = {
  async memory(answers) {
    const base = 'http://mirror.example'
    const fetcher = memoryFetcher((url) => answers(base)[url.slice(base.length)])
    return { fetcher, base, [Symbol.asyncDispose]: async () => undefined }
  },
  async http(answers) {
    const server = await testServer((path) => answers(server.url)[path])
    return { fetcher: httpFetcher(), base: server.url, [Symbol.asyncDispose]: server[Symbol.asyncDispose] }
  },
}

const { signal } = new AbortController()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe.each(Object.keys(worlds))('the fetcher over %s', (name) => {
  const open = async (answers: Answers): Promise<World> => {
    const world = worlds[name]
    if (world === undefined) throw new Error(name)
    return world(answers)
  }

  test('gives text, and digests', async () => {
    const large = 'x'.repeat(1_000_000)
    await using world = await open(() => ({ '/text': 'grüß dich', '/large': large, '/empty': '' }))
    expect(await world.fetcher.text(`${world.base}/text`, 100, signal)).toBe('grüß dich')
    expect(await world.fetcher.text(`${world.base}/empty`, 100, signal)).toBe('')
    expect(await world.fetcher.sha256(`${world.base}/large`, 1_000_000, signal)).toBe(sha256(large))
  })

  test('keeps to the limit, which counts bytes', async () => {
    await using world = await open(() => ({ '/four': 'üü' }))
    const url = `${world.base}/four`
    expect(await world.fetcher.text(url, 4, signal)).toBe('üü')
    const failure = { code: 'FETCH_TOO_LARGE', message: `${url} is larger than 3 bytes` }
    await expect(world.fetcher.text(url, 3, signal)).rejects.toMatchObject(failure)
    await expect(world.fetcher.sha256(url, 3, signal)).rejects.toMatchObject(failure)
  })

  test.each([
    [404, 'FETCH_NOT_FOUND'],
    [403, 'FETCH_REFUSED'],
    [500, 'FETCH_SERVER_ERROR'],
    [503, 'FETCH_SERVER_ERROR'],
  ])('a status of %i is %s, whatever comes with it', async (status, code) => {
    await using world = await open(() => ({ '/file': { status } }))
    const url = `${world.base}/file`
    const failure = { code, message: `${url} answered with status ${status}` }
    await expect(world.fetcher.text(url, 1000, signal)).rejects.toMatchObject(failure)
    await expect(world.fetcher.sha256(url, 1000, signal)).rejects.toMatchObject(failure)
  })

  test('a file that breaks off is no file', async () => {
    await using world = await open(() => ({ '/file': { cut: 'half' } }))
    const failure = { code: 'FETCH_UNREACHABLE', message: `${world.base}/file could not be read` }
    await expect(world.fetcher.text(`${world.base}/file`, 100, signal)).rejects.toMatchObject(failure)
    await expect(world.fetcher.sha256(`${world.base}/file`, 100, signal)).rejects.toMatchObject(failure)
  })

  test('redirects are followed, but not out of the web', async () => {
    await using world = await open((base) => ({
      '/from': { redirect: `${base}/to` },
      '/to': 'here',
      '/data': { redirect: 'data:text/plain,evil' },
    }))
    expect(await world.fetcher.text(`${world.base}/from`, 100, signal)).toBe('here')
    const failure = { code: 'FETCH_INSECURE' }
    await expect(world.fetcher.text(`${world.base}/data`, 100, signal)).rejects.toMatchObject(failure)
  })

  test('an abort is told with its own reason', async () => {
    await using world = await open(() => ({ '/file': 'x' }))
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(world.fetcher.text(`${world.base}/file`, 100, aborted)).rejects.toThrow('enough')
  })
})

/** For what the fetcher in memory cannot do. */
async function withServer(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  try {
    await use(`http://127.0.0.1:${port}/`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('a server that says nothing is given up', async () => {
  await withServer(
    () => undefined,
    async (url) => {
      const fetching = httpFetcher({ text: 50, sha256: 50 }).text(url, 10, signal)
      const failure = { code: 'FETCH_UNREACHABLE', cause: { name: 'TimeoutError' } }
      await expect(fetching).rejects.toMatchObject(failure)
    },
  )
})

test('bytes that were compressed on the way have no digest of ours', async () => {
  await withServer(
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x')),
    async (url) => {
      await expect(httpFetcher().sha256(url, 100, signal)).rejects.toMatchObject({ code: 'FETCH_ENCODED' })
    },
  )
})

test('nobody there is FETCH_UNREACHABLE, and endless redirects end', async () => {
  let url = ''
  {
    await using server = await testServer(() => ({ redirect: '/again' }))
    url = server.url
    await expect(httpFetcher().text(url, 10, signal)).rejects.toMatchObject({ code: 'FETCH_REFUSED' })
  }
  await expect(httpFetcher().text(url, 10, signal)).rejects.toMatchObject({ code: 'FETCH_UNREACHABLE' })
})
