import { createHash } from 'node:crypto'
import { HyperkubeError } from '../kit/errors.ts'
import { type Fetcher, refused, tooLarge, unreachable } from './fetcher.ts'
import { redirectTarget } from './redirect.ts'

/** How long a request may take in all, in milliseconds. */
export interface FetchTimes {
  readonly text: number
  readonly sha256: number
}

const patient: FetchTimes = { text: 30_000, sha256: 600_000 }
const mostRedirects = 5

export function httpFetcher(times: FetchTimes = patient): Fetcher {
  return {
    async text(url, limit, signal) {
      const chunks: Uint8Array[] = []
      await read({ url, limit, within: times.text, signal }, (chunk) => chunks.push(chunk))
      return Buffer.concat(chunks).toString('utf8')
    },
    async sha256(url, limit, signal) {
      const hash = createHash('sha256')
      await read({ url, limit, within: times.sha256, signal }, (chunk) => hash.update(chunk))
      return hash.digest('hex')
    },
  }
}

interface Request {
  readonly url: string
  readonly limit: number
  readonly within: number
  readonly signal: AbortSignal
}

async function read({ url, limit, within, signal }: Request, take: (chunk: Uint8Array) => unknown) {
  signal.throwIfAborted()
  const either = AbortSignal.any([signal, AbortSignal.timeout(within)])
  try {
    const response = await follow(url, either)
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > limit) throw tooLarge(url, limit)
      take(chunk)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof HyperkubeError ? error : unreachable(url, error)
  }
}

/** The answer at the end of all redirects. fetch itself would follow one that leaves encryption behind. */
async function follow(url: string, signal: AbortSignal): Promise<Response> {
  let at = url
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    // Compressed on the way, it would be other bytes than those that have the digest.
    const headers = { 'accept-encoding': 'identity', 'user-agent': 'hyperkube' }
    const response = await fetch(at, { signal, headers, redirect: 'manual' })
    const location = response.headers.get('location')
    const redirected = response.status >= 300 && response.status < 400 && location !== null
    if (response.ok && (response.headers.get('content-encoding') ?? 'identity') === 'identity')
      return response
    await response.body?.cancel()
    if (response.ok) throw new HyperkubeError('FETCH_ENCODED', `${url} is compressed on the way, unasked`)
    if (!redirected) throw refused(url, response.status)
    at = redirectTarget(url, at, location)
  }
  throw new HyperkubeError('FETCH_REFUSED', `${url} leads on and on, through ${mostRedirects} redirects`)
}
