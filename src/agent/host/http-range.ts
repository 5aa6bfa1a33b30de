import { HyperkubeError } from '../../kit/errors.ts'
import { downloadRefused } from './downloader.ts'

const maxRedirects = 5

/** The bytes from `from` to the end, or an empty body if there are no more. */
export interface RangeResponse {
  readonly from: number
  /** Size of the whole file, if known. */
  readonly total: number | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/** Requests what follows the first `from` bytes. A server without range support returns the whole file. */
export async function requestRange(url: string, from: number, signal: AbortSignal): Promise<RangeResponse> {
  const response = await followRedirects(url, from, signal)
  const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '')
  const total = range?.[2] === undefined ? undefined : Number(range[2])
  if (response.status === 416) {
    await response.body?.cancel()
    // Either the file is complete, or the local part does not belong to it.
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

/** Follows redirects. The built-in fetch would also follow one from https to http. */
async function followRedirects(url: string, from: number, signal: AbortSignal): Promise<Response> {
  let currentUrl = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    // A compressed response would have other bytes than those of the digest.
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

/** Only https, or http if the request was http already. */
function redirectTarget(url: string, from: string, location: string): string {
  const to = URL.parse(location, from)
  const plainToPlain = to?.protocol === 'http:' && from.startsWith('http:')
  if (to !== null && (to.protocol === 'https:' || plainToPlain)) return to.href
  throw new HyperkubeError('FETCH_INSECURE', `${url} leads to ${location}, which is not an https URL`)
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  // Empty.
}
