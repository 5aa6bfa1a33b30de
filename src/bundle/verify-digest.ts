import { createHash } from 'node:crypto'
import { damaged } from './errors.ts'
import type { Member } from './manifest.ts'

/** The same bytes; they end with an error when they were not those of the file. */
export async function* proven(
  { path, sha256 }: Pick<Member, 'path' | 'sha256'>,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== sha256) throw damaged(`the content of ${path}`)
}
