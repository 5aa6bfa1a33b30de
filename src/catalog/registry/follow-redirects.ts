import { HyperkubeError } from '../../kit/errors.ts'
import { refused } from '../fetcher.ts'
import { redirectTarget } from '../redirect.ts'
import type { Web, WebAnswer } from './transport.ts'

const mostRedirects = 5

/** Who one is to a host, and to no other that it may lead to. */
export interface Authorization {
  readonly host: string
  readonly value: string
}

export interface Followed {
  readonly answer: WebAnswer
  /** Where the answer came from in the end. */
  readonly at: string
}

/** The answer at the end of all redirects, whatever its status. */
export async function follow(
  web: Web,
  url: string,
  { accept, authorization }: { readonly accept?: string; readonly authorization?: Authorization | undefined },
  signal: AbortSignal,
): Promise<Followed> {
  let at = url
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const known = authorization !== undefined && new URL(at).host === authorization.host
    const headers = {
      ...(accept === undefined ? {} : { accept }),
      ...(known ? { authorization: authorization.value } : {}),
    }
    const answer = await web.get(at, headers, signal)
    const location = answer.header('location')
    if (answer.status < 300 || answer.status >= 400 || location === undefined) return { answer, at }
    await answer.leave()
    at = redirectTarget(url, at, location)
  }
  throw new HyperkubeError('FETCH_REFUSED', `${url} leads on and on, through ${mostRedirects} redirects`)
}

/** The same for those who want a file and nothing else. */
export async function bytesAt(
  web: Web,
  url: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { answer } = await follow(web, url, {}, signal)
  return accepted(answer, url)
}

export async function accepted(answer: WebAnswer, url: string): Promise<AsyncIterable<Uint8Array>> {
  const { status, header, body, leave } = answer
  const encoding = header('content-encoding') ?? 'identity'
  if (status >= 200 && status < 300 && encoding === 'identity') return body
  await leave()
  if (status >= 200 && status < 300) {
    throw new HyperkubeError('FETCH_ENCODED', `${url} is compressed on the way, unasked`)
  }
  throw refused(url, status)
}
