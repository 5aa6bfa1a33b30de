import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileDigest } from './manifest.ts'

export function readFileBytes(path: string, signal?: AbortSignal): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: 1 << 20, ...(signal && { signal }) })
}

/** Writes a new private file and flushes it to disk, so that it survives a power failure. */
export async function writeNewFile(path: string, bytes: AsyncIterable<Uint8Array>): Promise<FileDigest> {
  const hash = createHash('sha256')
  let size = 0
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of bytes) {
      hash.update(chunk)
      size += chunk.length
      await file.writeFile(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { size, sha256: hash.digest('hex') }
}
