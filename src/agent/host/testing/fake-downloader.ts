import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { urlStatusError, urlTooLargeError } from '../../../kit/http-fetch.ts'
import type { Downloader } from '../downloader.ts'
import type { ToLocalPath } from '../local-files.ts'

/** For tests: a downloader that serves contents by URL. */
export function createFakeDownloader(
  toLocalPath: ToLocalPath,
  contents: ReadonlyMap<string, Uint8Array>,
): Downloader & { readonly requestedUrls: string[] } {
  const requestedUrls: string[] = []
  return {
    requestedUrls,
    async download({ url, into, maxBytes, progress, signal }) {
      signal.throwIfAborted()
      requestedUrls.push(url)
      const content = contents.get(url)
      if (content === undefined) throw urlStatusError(url, 404)
      if (content.length > maxBytes) throw urlTooLargeError(url, maxBytes)
      await writeFile(toLocalPath(into), content)
      progress(content.length, content.length)
      return createHash('sha256').update(content).digest('hex')
    },
  }
}
