import { createHash } from 'node:crypto'
import { HyperkubeError } from '../kit/errors.ts'
import { type Pause, sleepOrAbort } from '../kit/poll.ts'
import { fetchBytes, limitBytes, readAllText } from './follow-redirects.ts'
import type { HttpRoute } from '../kit/http-route.ts'
import { urlUnreachableError } from '../kit/http-fetch.ts'
import { httpTransport, withFetchRetries } from './transport.ts'

/** Downloads files. Errors are HyperkubeErrors that name the URL. */
export interface Fetcher {
  /** Returns the text at a URL. Fails if it is longer than `limit` bytes. */
  text(url: string, limit: number, signal: AbortSignal): Promise<string>
  /**
   * Returns the SHA-256 digest (hex) of the content at a URL without storing the content. Fails if the
   * content is longer than `limit` bytes.
   */
  sha256(url: string, limit: number, signal: AbortSignal): Promise<string>
}

/** Timeouts for whole requests, in milliseconds. */
export interface FetchTimeouts {
  readonly text: number
  readonly sha256: number
}

const defaultTimeouts: FetchTimeouts = { text: 30_000, sha256: 600_000 }

export function httpFetcher(route: HttpRoute, timeouts: FetchTimeouts = defaultTimeouts): Fetcher {
  return {
    text: async (url, limit, signal) =>
      read(route, url, timeouts.text, signal, async (body) => readAllText(body, url, limit)),
    sha256: async (url, limit, signal) =>
      read(route, url, timeouts.sha256, signal, async (body) => {
        const hash = createHash('sha256')
        for await (const chunk of limitBytes(body, url, limit)) hash.update(chunk)
        return hash.digest('hex')
      }),
  }
}

async function read<T>(
  route: HttpRoute,
  url: string,
  timeoutMs: number,
  signal: AbortSignal,
  use: (body: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const combinedSignal = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  try {
    return await use(await fetchBytes(httpTransport(route, timeoutMs), url, combinedSignal))
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof HyperkubeError ? error : urlUnreachableError(url, error)
  }
}

/**
 * Wraps a fetcher and tries each download up to three times if the network or a server fails. Other errors
 * are not retried.
 */
export function retryingFetcher(fetcher: Fetcher, pause: Pause = sleepOrAbort): Fetcher {
  return {
    text: async (url, limit, signal) =>
      withFetchRetries(async () => fetcher.text(url, limit, signal), signal, pause),
    sha256: async (url, limit, signal) =>
      withFetchRetries(async () => fetcher.sha256(url, limit, signal), signal, pause),
  }
}
