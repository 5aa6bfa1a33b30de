import { HyperkubeError } from '../kit/errors.ts'
import { followLocations, urlStatusError, urlTooLargeError } from '../kit/http-fetch.ts'
import type { HttpResponse, HttpTransport } from './transport.ts'

/** Authorization header for one host. It is not sent to other hosts after a redirect. */
export interface Authorization {
  readonly host: string
  readonly value: string
}

export interface FollowedResponse {
  readonly response: HttpResponse
  /** URL that the response came from, after redirects. */
  readonly url: string
}

/** Follows redirects and returns the final response, whatever its status. */
export async function followRedirects(
  transport: HttpTransport,
  url: string,
  { accept, authorization }: { readonly accept?: string; readonly authorization?: Authorization | undefined },
  signal: AbortSignal,
): Promise<FollowedResponse> {
  return followLocations(url, async (currentUrl) => {
    const isAuthorizedHost = authorization !== undefined && new URL(currentUrl).host === authorization.host
    const headers = {
      ...(accept === undefined ? {} : { accept }),
      ...(isAuthorizedHost ? { authorization: authorization.value } : {}),
    }
    const response = await transport.get(currentUrl, headers, signal)
    const { status, header, cancel } = response
    return { response, status, location: header('location'), cancel }
  })
}

/** Follows redirects and returns the body of the final response. Throws if its status is not successful. */
export async function fetchBytes(
  transport: HttpTransport,
  url: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { response } = await followRedirects(transport, url, {}, signal)
  return requireAccepted(response, url)
}

export async function requireAccepted(
  response: HttpResponse,
  url: string,
): Promise<AsyncIterable<Uint8Array>> {
  const { status, header, body, cancel } = response
  const encoding = header('content-encoding') ?? 'identity'
  if (status >= 200 && status < 300 && encoding === 'identity') return body
  await cancel()
  if (status >= 200 && status < 300) {
    throw new HyperkubeError(
      'FETCH_ENCODED',
      `${url} was sent with a content encoding that was not requested`,
    )
  }
  throw urlStatusError(url, status)
}

/** Reads a whole body into memory. Throws if it is longer than `limit` bytes. */
export async function readAllBytes(
  body: AsyncIterable<Uint8Array>,
  url: string,
  limit: number,
): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(limitBytes(body, url, limit)))
}

export async function readAllText(
  body: AsyncIterable<Uint8Array>,
  url: string,
  limit: number,
): Promise<string> {
  return (await readAllBytes(body, url, limit)).toString('utf8')
}

/** Passes the chunks of a body through. Throws if the body is longer than `limit` bytes. */
export async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  url: string,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) throw urlTooLargeError(url, limit)
    yield chunk
  }
}
