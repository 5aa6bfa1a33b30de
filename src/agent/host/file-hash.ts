import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/** In bytes. */
const pieceSize = 1 << 20

/** Of the first bytes of a file, or of all. One buffer serves for every piece: new ones would be garbage by the gigabyte. */
export async function hashFrom(file: FileHandle, end = Number.POSITIVE_INFINITY): Promise<Hash> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafeSlow(pieceSize)
  for (let at = 0; at < end;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at)
    if (bytesRead === 0) break
    hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash
}
