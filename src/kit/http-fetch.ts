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

/** Codes of Node.js for a certificate whose CA is not trusted. */
const unknownCaCodes: ReadonlySet<unknown> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

/** Builds the error for a request without a response. A proxy or an unknown CA has its own code. */
export function urlUnreachableError(url: string, cause: unknown): HyperkubeError {
  const { code, statusCode } = readErrorFields(cause)
  if (code === 'ERR_PROXY_TUNNEL' && statusCode !== undefined) return proxyStatusError(url, statusCode)
  if (!unknownCaCodes.has(code))
    return new HyperkubeError('FETCH_UNREACHABLE', `cannot read ${url}`, { cause })
  const { host, hostname, port } = new URL(url)
  return new HyperkubeError(
    'FETCH_CA_UNKNOWN',
    `cannot read ${url}: the certificate of ${host} is signed by an unknown CA`,
    {
      hint: `show its CA: openssl s_client -showcerts -connect ${hostname}:${port === '' ? 443 : port}; set the file of a private CA as \`ca\` in spec.registries, spec.artifacts or spec.proxy`,
      cause,
    },
  )
}

function readErrorFields(error: unknown): { readonly code?: unknown; readonly statusCode?: number } {
  if (!(error instanceof Error)) return {}
  return {
    ...('code' in error ? { code: error.code } : {}),
    ...('statusCode' in error && typeof error.statusCode === 'number'
      ? { statusCode: error.statusCode }
      : {}),
  }
}

/** Builds the error for a proxy that refuses a request. A proxy that fails (5xx) may recover. */
function proxyStatusError(url: string, status: number): HyperkubeError {
  if (status >= 500)
    return new HyperkubeError('FETCH_UNREACHABLE', `cannot read ${url}: the proxy returned status ${status}`)
  if (status === 407) {
    return new HyperkubeError(
      'PROXY_LOGIN_REFUSED',
      `cannot read ${url}: the proxy demands a login, or refuses the one in cluster.yml (407)`,
      {
        hint: 'set username and password in spec.proxy, then store the password: hyperkube secret set NAME',
      },
    )
  }
  return new HyperkubeError('PROXY_REFUSED', `the proxy refuses ${url} with status ${status}`, {
    hint: `allow ${new URL(url).host} in the proxy, or list it in spec.proxy.no`,
  })
}

/** Builds the error for a response with a status other than 2xx. */
export function urlStatusError(url: string, status: number): HyperkubeError {
  if (status === 407) return proxyStatusError(url, status)
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
