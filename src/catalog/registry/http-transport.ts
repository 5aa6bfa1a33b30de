import { HyperkubeError } from '../../kit/errors.ts'
import { urlUnreachableError } from '../fetcher.ts'
import type { RegistryTransport } from './transport.ts'

/** A request fails if no data arrives for this many milliseconds. */
const defaultStallTimeoutMs = 60_000

export function httpRegistryTransport(stallTimeoutMs = defaultStallTimeoutMs): RegistryTransport {
  return {
    async get(url, headers, signal) {
      signal.throwIfAborted()
      const stallAbort = new AbortController()
      const timer = setTimeout(
        () => stallAbort.abort(new Error(`no byte came for ${stallTimeoutMs / 1000} s`)),
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
        const response = await fetch(url, {
          headers: { ...ownHeaders, ...headers },
          signal: combinedSignal,
          redirect: 'manual',
        })
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
