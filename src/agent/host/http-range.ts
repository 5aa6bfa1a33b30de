import { HyperkubeError } from '../../kit/errors.ts'
import { downloadRefused } from './downloader.ts'

const maxRedirects = 5

/** The bytes of a file starting at `from`. The body is empty if the file has no more bytes. */
export interface RangeResponse {
  readonly from: number
  /** Size of the whole file; undefined if the server does not report it. */
  readonly total: number | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Requests the bytes of a file starting at `from`. If the server does not support ranges, the response is the
 * whole file.
 */
export async function requestRange(url: string, from: number, signal: AbortSignal): Promise<RangeResponse> {
  const response = await followRedirects(url, from, signal)
  const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '')
  const total = range?.[2] === undefined ? undefined : Number(range[2])
  if (response.status === 416) {
    await response.body?.cancel()
    // If the sizes match, the local file is complete. Otherwise it is not a part of this file, and the
    // download starts again.
    return total === from ? { from, total, body: emptyBody() } : requestRange(url, 0, signal)
  }
  const partial = response.status === 206
  if (partial && Number(range?.[1]) !== from) {
    await response.body?.cancel()
    throw new HyperkubeError('FETCH_REFUSED', `${url} answered with another part than was asked for`)
  }
  const length = response.headers.get('content-length')
  return {
    from: partial ? from : 0,
    total: partial ? total : length === null ? undefined : Number(length),
    body: response.body ?? emptyBody(),
  }
}

/** Follows redirects itself, because the built-in fetch would also follow one from https to http. */
async function followRedirects(url: string, from: number, signal: AbortSignal): Promise<Response> {
  let currentUrl = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    // In a compressed response the bytes would not match the digest.
    const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'hyperkube' }
    if (from > 0) headers['range'] = `bytes=${from}-`
    const response = await fetch(currentUrl, { signal, headers, redirect: 'manual' })
    const { status } = response
    if (response.ok || status === 416) return response
    await response.body?.cancel()
    const location = response.headers.get('location')
    if (status < 300 || status >= 400 || location === null) throw downloadRefused(url, status)
    currentUrl = redirectTarget(url, currentUrl, location)
  }
  throw new HyperkubeError('FETCH_REFUSED', `${url} leads on and on, through ${maxRedirects} redirects`)
}

/** Resolves the target of a redirect. It must be https; from an http URL it may also be http. */
function redirectTarget(url: string, from: string, location: string): string {
  const to = URL.parse(location, from)
  const plainToPlain = to?.protocol === 'http:' && from.startsWith('http:')
  if (to !== null && (to.protocol === 'https:' || plainToPlain)) return to.href
  throw new HyperkubeError('FETCH_INSECURE', `${url} leads to ${location}, which is not an https URL`)
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  // No chunks.
}
