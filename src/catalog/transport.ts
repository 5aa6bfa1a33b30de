import { HyperkubeError } from '../kit/errors.ts'
import { isTransientUrlError, urlStatusError, urlUnreachableError } from '../kit/http-fetch.ts'
import type { HttpRoute } from '../kit/http-route.ts'
import { createRoutedFetch } from '../kit/routed-fetch.ts'
import { type Pause, retryTransient, sleepOrAbort } from '../kit/poll.ts'

/** Sends single HTTP requests. Redirects are returned and not followed. */
export interface HttpTransport {
  /** Sends a GET request. If no response arrives, throws a HyperkubeError that names the URL. */
  get(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpResponse>
}

export interface HttpResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  /** Body of the response. The caller must read it to the end or call `cancel`. */
  readonly body: AsyncIterable<Uint8Array>
  readonly cancel: () => Promise<void>
}

/** A request fails if no data arrives for this many milliseconds. */
const defaultStallTimeoutMs = 60_000

export function httpTransport(route: HttpRoute, stallTimeoutMs = defaultStallTimeoutMs): HttpTransport {
  const send = createRoutedFetch(route)
  return {
    async get(url, headers, signal) {
      signal.throwIfAborted()
      const stallAbort = new AbortController()
      const timer = setTimeout(
        () => stallAbort.abort(new Error(`no data received for ${stallTimeoutMs / 1000} s`)),
        stallTimeoutMs,
      )
      const combinedSignal = AbortSignal.any([signal, stallAbort.signal])
      const toError = (error: unknown): unknown => {
        clearTimeout(timer)
        signal.throwIfAborted()
        return error instanceof HyperkubeError ? error : urlUnreachableError(url, error)
      }
      try {
        // Request uncompressed content, because digests are for the uncompressed bytes.
        const ownHeaders = { 'accept-encoding': 'identity', 'user-agent': 'hyperkube' }
        const response = await send(url, { headers: { ...ownHeaders, ...headers }, signal: combinedSignal })
        timer.refresh()
        return {
          status: response.status,
          header: (name) => response.headers.get(name) ?? undefined,
          body: chunks(response, timer, toError),
          cancel: async () => {
            clearTimeout(timer)
            await response.body?.cancel().catch(() => undefined)
          },
        }
      } catch (error) {
        throw toError(error)
      }
    },
  }
}

async function* chunks(
  { body }: Response,
  timer: NodeJS.Timeout,
  toError: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) {
      timer.refresh()
      yield chunk
    }
  } catch (error) {
    throw toError(error)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Wraps a transport and tries each request up to three times if the network or a server fails. An error while
 * the body is read is not retried.
 */
export function retryingTransport(transport: HttpTransport, pause?: Pause): HttpTransport {
  return {
    get: async (url, headers, signal) =>
      withFetchRetries(
        async () => {
          const response = await transport.get(url, headers, signal)
          if (response.status < 500) return response
          await response.cancel()
          throw urlStatusError(url, response.status)
        },
        signal,
        pause,
      ),
  }
}

/** Milliseconds before the second and the third attempt. */
const retryDelaysMs = [500, 2000] as const

export async function withFetchRetries<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  pause: Pause = sleepOrAbort,
): Promise<T> {
  return retryTransient(attempt, {
    delaysMs: retryDelaysMs,
    isTransient: isTransientUrlError,
    pause,
    signal,
  })
}
