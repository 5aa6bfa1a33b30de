import { HyperkubeError } from '../../kit/errors.ts'
import { urlStatusError } from '../fetcher.ts'
import { resolveRedirect } from '../redirect.ts'
import type { RegistryTransport, RegistryResponse } from './transport.ts'

const maxRedirects = 5

/** Authorization header for one host. It is not sent to other hosts after a redirect. */
export interface Authorization {
  readonly host: string
  readonly value: string
}

export interface FollowedResponse {
  readonly response: RegistryResponse
  /** URL that the response came from, after redirects. */
  readonly url: string
}

/** Follows redirects and returns the final response, whatever its status. */
export async function followRedirects(
  transport: RegistryTransport,
  url: string,
  { accept, authorization }: { readonly accept?: string; readonly authorization?: Authorization | undefined },
  signal: AbortSignal,
): Promise<FollowedResponse> {
  let currentUrl = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const isAuthorizedHost = authorization !== undefined && new URL(currentUrl).host === authorization.host
    const headers = {
      ...(accept === undefined ? {} : { accept }),
      ...(isAuthorizedHost ? { authorization: authorization.value } : {}),
    }
    const response = await transport.get(currentUrl, headers, signal)
    const location = response.header('location')
    if (response.status < 300 || response.status >= 400 || location === undefined)
      return { response, url: currentUrl }
    await response.cancel()
    currentUrl = resolveRedirect(url, currentUrl, location)
  }
  throw new HyperkubeError('FETCH_REFUSED', `${url} leads on and on, through ${maxRedirects} redirects`)
}

/** Follows redirects and returns the body of the final response. Throws if its status is not successful. */
export async function fetchBytes(
  transport: RegistryTransport,
  url: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { response } = await followRedirects(transport, url, {}, signal)
  return requireAccepted(response, url)
}

export async function requireAccepted(
  response: RegistryResponse,
  url: string,
): Promise<AsyncIterable<Uint8Array>> {
  const { status, header, body, cancel } = response
  const encoding = header('content-encoding') ?? 'identity'
  if (status >= 200 && status < 300 && encoding === 'identity') return body
  await cancel()
  if (status >= 200 && status < 300) {
    throw new HyperkubeError('FETCH_ENCODED', `${url} is compressed on the way, unasked`)
  }
  throw urlStatusError(url, status)
}
