import { expect, test } from 'vitest'
import { type FakeResponse, fakeFetcher } from './testing/fake-fetcher.ts'
import { retryingFetcher } from './retrying-fetcher.ts'

const url = 'https://site.example/file'
const { signal } = new AbortController()

/** Builds a fetcher that gets these responses in order, and records the delays between attempts. */
function fetcherWith(...responses: FakeResponse[]) {
  const waited: number[] = []
  const fetcher = retryingFetcher(
    fakeFetcher(() => responses.shift()),
    async (milliseconds) => void waited.push(milliseconds),
  )
  return { fetcher, waited, left: responses }
}

test('what fails in passing is tried three times, with growing pauses', async () => {
  const { fetcher, waited } = fetcherWith({ status: 503 }, { cut: 'x' }, 'here')
  expect(await fetcher.text(url, 10, signal)).toBe('here')
  expect(waited).toEqual([500, 2000])
})

test('the last failure is the one that is reported', async () => {
  const { fetcher, left } = fetcherWith({ cut: '' }, { cut: '' }, { status: 500 }, 'too late')
  await expect(fetcher.sha256(url, 10, signal)).rejects.toMatchObject({ code: 'FETCH_SERVER_ERROR' })
  expect(left).toEqual(['too late'])
})

test.each<[FakeResponse, string]>([
  [{ status: 404 }, 'FETCH_NOT_FOUND'],
  [{ status: 403 }, 'FETCH_REFUSED'],
  ['more than ten bytes', 'FETCH_TOO_LARGE'],
])('%o would fail again, and is tried once', async (response, code) => {
  const { fetcher, waited } = fetcherWith(response, 'here')
  await expect(fetcher.text(url, 10, signal)).rejects.toMatchObject({ code })
  expect(waited).toEqual([])
})

test('an abort ends a pause with its own reason', async () => {
  const controller = new AbortController()
  const fetcher = retryingFetcher(
    fakeFetcher(() => {
      queueMicrotask(() => controller.abort(new Error('enough')))
      return { status: 500 }
    }),
  )
  await expect(fetcher.text(url, 10, controller.signal)).rejects.toThrow('enough')
})
