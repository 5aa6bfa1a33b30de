import { type Agent, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { Readable } from 'node:stream'
import { createRouteAgent, type HttpRoute } from './http-route.ts'

export interface RoutedRequest {
  readonly method?: string
  readonly headers?: Headers | Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer> | string | undefined
  readonly signal: AbortSignal
}

/** Sends one HTTP request. Redirects are not followed. */
export type RoutedFetch = (url: string, request: RoutedRequest) => Promise<Response>

/** Creates a function like `fetch` that uses a route. The built-in `fetch` cannot use a proxy with a login. */
export function createRoutedFetch(route: HttpRoute): RoutedFetch {
  const agents = new Map<string, Agent>()
  const findAgent = (url: string): Agent => {
    const { origin } = new URL(url)
    const agent = agents.get(origin) ?? createRouteAgent(route, url, { keepAlive: true })
    agents.set(origin, agent)
    return agent
  }
  return async (url, { method = 'GET', headers = {}, body, signal }) => {
    const send = url.startsWith('https:') ? requestTls : requestPlain
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        method,
        headers: Object.fromEntries(toEntries(headers)),
        signal,
        agent: findAgent(url),
      }
      send(url, options, resolve).on('error', reject).end(body)
    })
    return toResponse(message, method)
  }
}

function toEntries(headers: RoutedRequest['headers'] & {}): Iterable<[string, string]> {
  return headers instanceof Headers ? headers.entries() : Object.entries(headers)
}

/** Statuses for which `Response` accepts no body. */
const withoutBody = new Set([204, 205, 304])

function toResponse(message: IncomingMessage, method: string): Response {
  const { statusCode: status = 500, rawHeaders } = message
  const headers = new Headers()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  if (method === 'HEAD' || withoutBody.has(status)) {
    message.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(message), { status, headers })
}
