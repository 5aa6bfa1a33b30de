import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/** Size of the read buffer in bytes. */
const bufferSize = 1 << 20

/**
 * Hashes the first `end` bytes of a file, by default all. One buffer is reused, because a new one per read
 * would produce gigabytes of garbage.
 */
export async function hashOpenFile(file: FileHandle, end = Number.POSITIVE_INFINITY): Promise<Hash> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafeSlow(bufferSize)
  for (let offset = 0; offset < end;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - offset), offset)
    if (bytesRead === 0) break
    hash.update(buffer.subarray(0, bytesRead))
    offset += bytesRead
  }
  return hash
}
