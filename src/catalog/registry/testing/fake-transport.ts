import { refused, unreachable } from '../../fetcher.ts'
import type { Web } from '../transport.ts'

/** What a site answers to one request, for tests. */
export interface Page {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The connection breaks after the body. */
  readonly cut?: true
}

export type Headers = Readonly<Record<string, string>>

/** A world of sites, for tests. Where `page` knows nothing, nobody answers. */
export function memoryWeb(page: (url: string, headers: Headers) => Page | undefined): Web {
  return {
    async get(url, headers, signal) {
      signal.throwIfAborted()
      const found = page(url, headers)
      if (found === undefined) throw unreachable(url, new Error('nobody is there'))
      const { status = 200, headers: own = {}, body = '', cut } = found
      return {
        status,
        header: (name) => own[name],
        body: (async function* () {
          yield Buffer.from(body)
          if (cut) throw refused(url, 500)
        })(),
        leave: async () => undefined,
      }
    },
  }
}
