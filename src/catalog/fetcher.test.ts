import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type Fetcher, httpFetcher, retryingFetcher } from './fetcher.ts'
import { startFakeArtifactServer } from './testing/fake-artifact-server.ts'
import { fakeFetcher, type FakeResponse } from './testing/fake-fetcher.ts'

interface FetcherSetup extends AsyncDisposable {
  readonly fetcher: Fetcher
  readonly base: string
}
type Responses = (base: string) => Readonly<Record<string, FakeResponse>>

const setups: Readonly<Record<string, (responses: Responses) => Promise<FetcherSetup>>> = {
  async memory(responses) {
    const base = 'http://mirror.example'
    const fetcher = fakeFetcher((url) => responses(base)[url.slice(base.length)])
    return { fetcher, base, [Symbol.asyncDispose]: async () => undefined }
  },
  async http(responses) {
    const server = await startFakeArtifactServer((path) => responses(server.url)[path])
    return { fetcher: httpFetcher({}), base: server.url, [Symbol.asyncDispose]: server[Symbol.asyncDispose] }
  },
}

const { signal } = new AbortController()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe.each(Object.keys(setups))('the %s fetcher', (name) => {
  const open = async (responses: Responses): Promise<FetcherSetup> => {
    const setup = setups[name]
    if (setup === undefined) throw new Error(name)
    return setup(responses)
  }

  test('returns text and digests', async () => {
    const large = 'x'.repeat(1_000_000)
    await using setup = await open(() => ({ '/text': 'grüß dich', '/large': large, '/empty': '' }))
    expect(await setup.fetcher.text(`${setup.base}/text`, 100, signal)).toBe('grüß dich')
    expect(await setup.fetcher.text(`${setup.base}/empty`, 100, signal)).toBe('')
    expect(await setup.fetcher.sha256(`${setup.base}/large`, 1_000_000, signal)).toBe(sha256(large))
  })

  test('limits the response size in bytes', async () => {
    await using setup = await open(() => ({ '/four': 'üü' }))
    const url = `${setup.base}/four`
    expect(await setup.fetcher.text(url, 4, signal)).toBe('üü')
    const failure = { code: 'FETCH_TOO_LARGE', message: `${url} is larger than 3 bytes` }
    await expect(setup.fetcher.text(url, 3, signal)).rejects.toMatchObject(failure)
    await expect(setup.fetcher.sha256(url, 3, signal)).rejects.toMatchObject(failure)
  })

  test.each([
    [404, 'FETCH_NOT_FOUND'],
    [403, 'FETCH_REFUSED'],
    [500, 'FETCH_SERVER_ERROR'],
    [503, 'FETCH_SERVER_ERROR'],
  ])('reports status %i as %s', async (status, code) => {
    await using setup = await open(() => ({ '/file': { status } }))
    const url = `${setup.base}/file`
    const failure = { code, message: `${url} returned status ${status}` }
    await expect(setup.fetcher.text(url, 1000, signal)).rejects.toMatchObject(failure)
    await expect(setup.fetcher.sha256(url, 1000, signal)).rejects.toMatchObject(failure)
  })

  test('refuses a truncated file', async () => {
    await using setup = await open(() => ({ '/file': { cut: 'half' } }))
    const failure = { code: 'FETCH_UNREACHABLE', message: `cannot read ${setup.base}/file` }
    await expect(setup.fetcher.text(`${setup.base}/file`, 100, signal)).rejects.toMatchObject(failure)
    await expect(setup.fetcher.sha256(`${setup.base}/file`, 100, signal)).rejects.toMatchObject(failure)
  })

  test('follows HTTP redirects and refuses a data: URL', async () => {
    await using setup = await open((base) => ({
      '/from': { redirect: `${base}/to` },
      '/to': 'here',
      '/data': { redirect: 'data:text/plain,evil' },
    }))
    expect(await setup.fetcher.text(`${setup.base}/from`, 100, signal)).toBe('here')
    const failure = { code: 'FETCH_INSECURE' }
    await expect(setup.fetcher.text(`${setup.base}/data`, 100, signal)).rejects.toMatchObject(failure)
  })

  test('rejects with the reason of the abort', async () => {
    await using setup = await open(() => ({ '/file': 'x' }))
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(setup.fetcher.text(`${setup.base}/file`, 100, aborted)).rejects.toThrow('enough')
  })
})

/** Runs a test against a real HTTP server, for behaviour that the fake fetcher does not have. */
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

test('a server that sends no response causes a timeout', async () => {
  await withServer(
    () => undefined,
    async (url) => {
      const fetching = httpFetcher({}, { text: 50, sha256: 50 }).text(url, 10, signal)
      const failure = { code: 'FETCH_UNREACHABLE', cause: { name: 'TimeoutError' } }
      await expect(fetching).rejects.toMatchObject(failure)
    },
  )
})

test('compressed content is refused, because its digest would differ', async () => {
  await withServer(
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x')),
    async (url) => {
      await expect(httpFetcher({}).sha256(url, 100, signal)).rejects.toMatchObject({ code: 'FETCH_ENCODED' })
    },
  )
})

test('an unreachable server is FETCH_UNREACHABLE, and a redirect loop is FETCH_REFUSED', async () => {
  let url = ''
  {
    await using server = await startFakeArtifactServer(() => ({ redirect: '/again' }))
    url = server.url
    await expect(httpFetcher({}).text(url, 10, signal)).rejects.toMatchObject({ code: 'FETCH_REFUSED' })
  }
  await expect(httpFetcher({}).text(url, 10, signal)).rejects.toMatchObject({ code: 'FETCH_UNREACHABLE' })
})

const fileUrl = 'https://site.example/file'

/** Builds a fetcher that gets these responses in order, and records the delays between attempts. */
function fetcherWith(...responses: FakeResponse[]) {
  const waited: number[] = []
  const fetcher = retryingFetcher(
    fakeFetcher(() => responses.shift()),
    async (milliseconds) => void waited.push(milliseconds),
  )
  return { fetcher, waited, left: responses }
}

test('transient failures are retried with backoff, at most three attempts in total', async () => {
  const { fetcher, waited } = fetcherWith({ status: 503 }, { cut: 'x' }, 'here')
  expect(await fetcher.text(fileUrl, 10, signal)).toBe('here')
  expect(waited).toEqual([500, 2000])
})

test('after the last attempt, its failure is reported', async () => {
  const { fetcher, left } = fetcherWith({ cut: '' }, { cut: '' }, { status: 500 }, 'too late')
  await expect(fetcher.sha256(fileUrl, 10, signal)).rejects.toMatchObject({ code: 'FETCH_SERVER_ERROR' })
  expect(left).toEqual(['too late'])
})

test.each<[FakeResponse, string]>([
  [{ status: 404 }, 'FETCH_NOT_FOUND'],
  [{ status: 403 }, 'FETCH_REFUSED'],
  ['more than ten bytes', 'FETCH_TOO_LARGE'],
])('the response %o is not retried', async (response, code) => {
  const { fetcher, waited } = fetcherWith(response, 'here')
  await expect(fetcher.text(fileUrl, 10, signal)).rejects.toMatchObject({ code })
  expect(waited).toEqual([])
})

test('an abort ends the backoff wait with its own reason', async () => {
  const controller = new AbortController()
  const fetcher = retryingFetcher(
    fakeFetcher(() => {
      queueMicrotask(() => controller.abort(new Error('enough')))
      return { status: 500 }
    }),
  )
  await expect(fetcher.text(fileUrl, 10, controller.signal)).rejects.toThrow('enough')
})
