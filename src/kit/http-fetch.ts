import { HyperkubeError } from './errors.ts'

const maxRedirects = 5

/** A response with the data that is needed to follow a redirect. */
export interface Redirectable<R> {
  readonly response: R
  readonly status: number
  /** Value of the Location header. */
  readonly location: string | undefined
  /** Discards the body. */
  readonly cancel: () => Promise<void>
}

/**
 * Sends a request, follows its redirects and returns the final response and its URL. The response may have
 * any status. `fetch` would also follow a redirect from https to http, which is not allowed here.
 */
export async function followLocations<R>(
  url: string,
  send: (currentUrl: string) => Promise<Redirectable<R>>,
): Promise<{ readonly response: R; readonly url: string }> {
  let currentUrl = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const { response, status, location, cancel } = await send(currentUrl)
    if (status < 300 || status >= 400 || location === undefined) return { response, url: currentUrl }
    await cancel()
    currentUrl = resolveRedirect(url, currentUrl, location)
  }
  throw new HyperkubeError('FETCH_REFUSED', `${url} has more than ${maxRedirects} redirects`)
}

/**
 * Returns the target URL of a redirect from `from`. Throws if it leads from https to http or to another
 * protocol. `url` is the original URL, for the message.
 */
export function resolveRedirect(url: string, from: string, location: string): string {
  const to = URL.parse(location, from)
  const plainToPlain = to?.protocol === 'http:' && from.startsWith('http:')
  if (to === null || (to.protocol !== 'https:' && !plainToPlain)) throw insecureRedirectError(url, location)
  return to.href
}

export function insecureRedirectError(url: string, to: string): HyperkubeError {
  return new HyperkubeError('FETCH_INSECURE', `${url} redirects to ${to}, which is not an https URL`)
}

export function urlUnreachableError(url: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('FETCH_UNREACHABLE', `cannot read ${url}`, { cause })
}

/** Builds the error for a response with a status other than 2xx. */
export function urlStatusError(url: string, status: number): HyperkubeError {
  const code = status >= 500 ? 'FETCH_SERVER_ERROR' : status === 404 ? 'FETCH_NOT_FOUND' : 'FETCH_REFUSED'
  return new HyperkubeError(code, `${url} returned status ${status}`)
}

export function urlTooLargeError(url: string, limit: number): HyperkubeError {
  return new HyperkubeError('FETCH_TOO_LARGE', `${url} is larger than ${limit} bytes`)
}

/** True if a retry of the request may succeed. */
export function isTransientUrlError(error: unknown): boolean {
  return error instanceof HyperkubeError && ['FETCH_UNREACHABLE', 'FETCH_SERVER_ERROR'].includes(error.code)
}
