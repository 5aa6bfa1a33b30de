import { createHash } from 'node:crypto'
import { HyperkubeError } from '../kit/errors.ts'
import { type Fetcher, urlStatusError, urlTooLargeError, urlUnreachableError } from './fetcher.ts'
import { resolveRedirect } from './redirect.ts'

/** Timeouts for whole requests, in milliseconds. */
export interface FetchTimeouts {
  readonly text: number
  readonly sha256: number
}

const defaultTimeouts: FetchTimeouts = { text: 30_000, sha256: 600_000 }
const maxRedirects = 5

export function httpFetcher(timeouts: FetchTimeouts = defaultTimeouts): Fetcher {
  return {
    async text(url, limit, signal) {
      const chunks: Uint8Array[] = []
      await read({ url, limit, timeoutMs: timeouts.text, signal }, (chunk) => chunks.push(chunk))
      return Buffer.concat(chunks).toString('utf8')
    },
    async sha256(url, limit, signal) {
      const hash = createHash('sha256')
      await read({ url, limit, timeoutMs: timeouts.sha256, signal }, (chunk) => hash.update(chunk))
      return hash.digest('hex')
    },
  }
}

interface Request {
  readonly url: string
  readonly limit: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

async function read({ url, limit, timeoutMs, signal }: Request, onChunk: (chunk: Uint8Array) => unknown) {
  signal.throwIfAborted()
  const combinedSignal = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  try {
    const response = await follow(url, combinedSignal)
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > limit) throw urlTooLargeError(url, limit)
      onChunk(chunk)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof HyperkubeError ? error : urlUnreachableError(url, error)
  }
}

/**
 * Follows redirects and returns the final response. `fetch` would also follow a redirect from https to http,
 * which is not allowed here.
 */
async function follow(url: string, signal: AbortSignal): Promise<Response> {
  let currentUrl = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    // Request uncompressed content, because digests are for the uncompressed bytes.
    const headers = { 'accept-encoding': 'identity', 'user-agent': 'hyperkube' }
    const response = await fetch(currentUrl, { signal, headers, redirect: 'manual' })
    const location = response.headers.get('location')
    const redirected = response.status >= 300 && response.status < 400 && location !== null
    if (response.ok && (response.headers.get('content-encoding') ?? 'identity') === 'identity')
      return response
    await response.body?.cancel()
    if (response.ok) throw new HyperkubeError('FETCH_ENCODED', `${url} is compressed on the way, unasked`)
    if (!redirected) throw urlStatusError(url, response.status)
    currentUrl = resolveRedirect(url, currentUrl, location)
  }
  throw new HyperkubeError('FETCH_REFUSED', `${url} leads on and on, through ${maxRedirects} redirects`)
}
