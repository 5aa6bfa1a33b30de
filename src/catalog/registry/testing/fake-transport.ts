import { urlStatusError, urlUnreachableError } from '../../fetcher.ts'
import type { RegistryTransport } from '../transport.ts'

/** Response of a site to one request, for tests. */
export interface FakePage {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The connection breaks after the body. */
  readonly cut?: true
}

export type RequestHeaders = Readonly<Record<string, string>>

/** A transport over in-memory pages, for tests. If `page` returns undefined, the host is unreachable. */
export function fakeRegistryTransport(
  page: (url: string, headers: RequestHeaders) => FakePage | undefined,
): RegistryTransport {
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
