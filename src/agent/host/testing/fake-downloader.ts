import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { type Fetch, refused, tooLarge } from '../downloader.ts'
import type { Place } from '../local-path.ts'

/** What is at some URLs, for tests. */
export function memoryFetch(
  place: Place,
  world: ReadonlyMap<string, Uint8Array>,
): Fetch & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async download({ url, into, limit, progress, signal }) {
      signal.throwIfAborted()
      asked.push(url)
      const content = world.get(url)
      if (content === undefined) throw refused(url, 404)
      if (content.length > limit) throw tooLarge(url, limit)
      await writeFile(place(into), content)
      progress(content.length, content.length)
      return createHash('sha256').update(content).digest('hex')
    },
  }
}
