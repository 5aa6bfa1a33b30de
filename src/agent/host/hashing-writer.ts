import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/** Size of the write buffer in bytes. */
const bufferSize = 1 << 20

/** Writes chunks to a file and hashes them. */
export interface HashingWriter {
  /** Takes a chunk. Returns false if `flush` must be called before the next chunk. */
  add(chunk: Uint8Array): boolean
  flush(): Promise<void>
  /** Returns the SHA-256 of all flushed bytes in hex. */
  digest(): string
}

/**
 * Collects chunks in one buffer, because they are too small to be written one by one. Frees the memory of
 * each chunk after copying it, because otherwise the garbage collector would run too often.
 */
export function createHashingWriter(file: FileHandle, hash: Hash): HashingWriter {
  const buffer = Buffer.allocUnsafeSlow(bufferSize)
  let filled = 0
  /** The last chunk, if it did not fit into the buffer. */
  let overflow: Uint8Array | undefined
  let flushed: Promise<void> = Promise.resolve()
  const write = async (bytes: Uint8Array): Promise<void> => {
    hash.update(bytes)
    for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten
  }
  return {
    add(chunk) {
      if (chunk.length > buffer.length - filled) {
        overflow = chunk
        return false
      }
      buffer.set(chunk, filled)
      filled += chunk.length
      releaseBytes(chunk)
      return true
    },
    async flush() {
      const [end, last] = [filled, overflow]
      filled = 0
      overflow = undefined
      const previous = flushed
      const writeCollected = async (): Promise<void> => {
        // After an error, the previous flush may still be running. Wait for it, so that it does not write to
        // the file during a retry.
        await previous
        await write(buffer.subarray(0, end))
        if (last === undefined) return
        await write(last)
        releaseBytes(last)
      }
      flushed = writeCollected()
      await flushed
    },
    digest: () => hash.digest('hex'),
  }
}

/** Frees the memory of a chunk that is no longer needed, unless other chunks share it. */
export function releaseBytes({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && length === buffer.byteLength) buffer.transfer(0)
}
