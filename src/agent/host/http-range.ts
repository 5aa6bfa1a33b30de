import { HyperkubeError } from '../../kit/errors.ts'
import { refused } from './downloader.ts'

const mostRedirects = 5

/** Of what was asked for: the bytes from one on, all of them, or the news that there are no more. */
export interface Answer {
  readonly from: number
  /** Of the whole file, where it is told. */
  readonly total: number | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/** Asks for what follows the first `from` bytes; who does not know how to answer that gives all. */
export async function ask(url: string, from: number, signal: AbortSignal): Promise<Answer> {
  const response = await follow(url, from, signal)
  const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '')
  const total = range?.[2] === undefined ? undefined : Number(range[2])
  if (response.status === 416) {
    await response.body?.cancel()
    // All of it is here, or what is here is no part of it.
    return total === from ? { from, total, body: nothing() } : ask(url, 0, signal)
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
    body: response.body ?? nothing(),
  }
}

/** The answer at the end of all redirects. fetch itself would follow one that leaves encryption behind. */
async function follow(url: string, from: number, signal: AbortSignal): Promise<Response> {
  let at = url
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    // Compressed on the way, it would be other bytes than those that have the digest.
    const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'hyperkube' }
    if (from > 0) headers['range'] = `bytes=${from}-`
    const response = await fetch(at, { signal, headers, redirect: 'manual' })
    const { status } = response
    if (response.ok || status === 416) return response
    await response.body?.cancel()
    const location = response.headers.get('location')
    if (status < 300 || status >= 400 || location === null) throw refused(url, status)
    at = redirectTarget(url, at, location)
  }
  throw new HyperkubeError('FETCH_REFUSED', `${url} leads on and on, through ${mostRedirects} redirects`)
}

/** Never out of encryption, nor of the web. */
function redirectTarget(url: string, from: string, location: string): string {
  const to = URL.parse(location, from)
  const plainToPlain = to?.protocol === 'http:' && from.startsWith('http:')
  if (to !== null && (to.protocol === 'https:' || plainToPlain)) return to.href
  throw new HyperkubeError('FETCH_INSECURE', `${url} leads to ${location}, which is not an https URL`)
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // There is none.
}
