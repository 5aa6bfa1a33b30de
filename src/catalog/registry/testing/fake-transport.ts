import { urlStatusError, urlUnreachableError } from '../../../kit/http-fetch.ts'
import type { HttpTransport } from '../../transport.ts'

/** Response to one request in tests. */
export interface FakePage {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** If true, the connection breaks after the body. */
  readonly cut?: true
}

export type RequestHeaders = Readonly<Record<string, string>>

/**
 * Builds a transport for tests that gets its responses from `page`. If `page` returns undefined, the host is
 * unreachable.
 */
export function fakeRegistryTransport(
  page: (url: string, headers: RequestHeaders) => FakePage | undefined,
): HttpTransport {
  return {
    async get(url, headers, signal) {
      signal.throwIfAborted()
      const found = page(url, headers)
      if (found === undefined) throw urlUnreachableError(url, new Error('no server is there'))
      const { status = 200, headers: responseHeaders = {}, body = '', cut } = found
      return {
        status,
        header: (name) => responseHeaders[name],
        body: (async function* () {
          yield Buffer.from(body)
          if (cut) throw urlStatusError(url, 500)
        })(),
        cancel: async () => undefined,
      }
    },
  }
}
