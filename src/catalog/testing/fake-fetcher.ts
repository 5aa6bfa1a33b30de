import { createHash } from 'node:crypto'
import type { Fetcher } from '../fetcher.ts'
import {
  insecureRedirectError,
  urlStatusError,
  urlTooLargeError,
  urlUnreachableError,
} from '../../kit/http-fetch.ts'

/**
 * Response for a URL in tests: a body, a status, a redirect, or a connection that breaks in the middle of the
 * body.
 */
export type FakeResponse =
  | string
  | { readonly status: number }
  | { readonly redirect: string }
  | { readonly cut: string }

/** Builds a fetcher for tests that gets its responses from `respond`, which is called for every request. */
export function fakeFetcher(respond: (url: string) => FakeResponse | undefined): Fetcher {
  const read = (url: string, limit: number, signal: AbortSignal, requestedUrl = url): string => {
    signal.throwIfAborted()
    const found = respond(url) ?? { status: 404 }
    if (typeof found === 'string') {
      if (Buffer.byteLength(found) > limit) throw urlTooLargeError(requestedUrl, limit)
      return found
    }
    if ('status' in found) throw urlStatusError(requestedUrl, found.status)
    if ('cut' in found) throw urlUnreachableError(requestedUrl, new Error('the connection failed'))
    if (!/^https?:/.test(found.redirect)) throw insecureRedirectError(requestedUrl, found.redirect)
    return read(found.redirect, limit, signal, requestedUrl)
  }
  return {
    text: async (url, limit, signal) => read(url, limit, signal),
    sha256: async (url, limit, signal) =>
      createHash('sha256')
        .update(read(url, limit, signal))
        .digest('hex'),
  }
}
