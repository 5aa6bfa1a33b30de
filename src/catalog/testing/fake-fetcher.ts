import { createHash } from 'node:crypto'
import { type Fetcher, insecure, refused, tooLarge, unreachable } from '../fetcher.ts'

/** What is at a URL: a body, a status, a redirect, or a connection that breaks in the middle. */
export type Answer =
  | string
  | { readonly status: number }
  | { readonly redirect: string }
  | { readonly cut: string }

/** A world of URLs, for tests. `answer` is asked anew for each request. */
export function memoryFetcher(answer: (url: string) => Answer | undefined): Fetcher {
  const read = (url: string, limit: number, signal: AbortSignal, asked = url): string => {
    signal.throwIfAborted()
    const found = answer(url) ?? { status: 404 }
    if (typeof found === 'string') {
      if (Buffer.byteLength(found) > limit) throw tooLarge(asked, limit)
      return found
    }
    if ('status' in found) throw refused(asked, found.status)
    if ('cut' in found) throw unreachable(asked, new Error('the connection broke'))
    if (!/^https?:/.test(found.redirect)) throw insecure(asked, found.redirect)
    return read(found.redirect, limit, signal, asked)
  }
  return {
    text: async (url, limit, signal) => read(url, limit, signal),
    sha256: async (url, limit, signal) =>
      createHash('sha256')
        .update(read(url, limit, signal))
        .digest('hex'),
  }
}
