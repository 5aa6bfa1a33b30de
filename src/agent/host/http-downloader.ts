import { type FileHandle, open } from 'node:fs/promises'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Clock } from './clock.ts'
import { hashOpenFile } from './file-hash.ts'
import {
  type DownloadOptions,
  type Downloader,
  isTransientDownloadError,
  downloadTooLarge,
  downloadUnreachable,
} from './downloader.ts'
import { requestRange } from './http-range.ts'
import type { ToLocalPath } from './local-path.ts'

/** Milliseconds before each retry. After progress, the next retry uses the first delay again. */
const retryDelaysMs = [500, 2000, 5000, 10_000] as const
/** Size of the write buffer in bytes. */
const bufferSize = 1 << 20
/** If no byte arrives for this many milliseconds, the connection counts as lost. */
const defaultStallMs = 60_000

export function createHttpDownloader(
  toLocalPath: ToLocalPath,
  clock: Clock,
  stallMs = defaultStallMs,
): Downloader {
  return {
    async download(options) {
      const file = await open(toLocalPath(options.into), 'a+', 0o600)
      try {
        let furthest = 0
        for (let failures = 0; ;) {
          try {
            return await downloadOnce(file, options, stallMs)
          } catch (error) {
            options.signal.throwIfAborted()
            const { size } = await file.stat()
            failures = size > furthest ? 1 : failures + 1
            furthest = Math.max(furthest, size)
            const delayMs = retryDelaysMs[failures - 1]
            if (delayMs === undefined || !isTransientDownloadError(error)) throw error
            await clock.pause(delayMs, options.signal)
          }
        }
      } finally {
        await file.close()
      }
    },
  }
}

async function downloadOnce(
  file: FileHandle,
  { url, maxBytes, progress, signal }: DownloadOptions,
  stallMs: number,
) {
  const { size } = await file.stat()
  const stallAbort = new AbortController()
  const timer = setTimeout(() => stallAbort.abort(new Error(`no byte came for ${stallMs / 1000} s`)), stallMs)
  try {
    const { from, total, body } = await requestRange(url, size, AbortSignal.any([signal, stallAbort.signal]))
    if (from < size) await file.truncate(from)
    const hash = await hashOpenFile(file, from)
    let done = from
    if (total !== undefined && total > maxBytes) throw downloadTooLarge(url, maxBytes)
    const writer = createBufferedWriter(file)
    try {
      for await (const chunk of body) {
        timer.refresh()
        done += chunk.length
        if (done > maxBytes) throw downloadTooLarge(url, maxBytes)
        hash.update(chunk)
        await writer.add(chunk)
        progress(done, total)
      }
    } finally {
      // Writes the received bytes even after an error, so that a retry need not download them again.
      await writer.flush()
    }
    if (total !== undefined && done < total) throw new Error(`it ended after ${done} of ${total} bytes`)
    await file.sync()
    return hash.digest('hex')
  } catch (error) {
    signal.throwIfAborted()
    // A write error of the disk must not be reported as a network error.
    if (
      error instanceof HyperkubeError ||
      (error instanceof Error && 'syscall' in error && error.syscall === 'write')
    )
      throw error
    throw downloadUnreachable(url, error)
  } finally {
    clearTimeout(timer)
  }
}

interface BufferedWriter {
  add(chunk: Uint8Array): Promise<void>
  flush(): Promise<void>
}

/**
 * Collects chunks in one buffer, because they are too small to be written one by one. The memory of each
 * chunk is freed at once, because the garbage collector would run too often otherwise.
 */
function createBufferedWriter(file: FileHandle): BufferedWriter {
  const buffer = Buffer.allocUnsafeSlow(bufferSize)
  let filled = 0
  const flush = async (): Promise<void> => {
    const end = filled
    filled = 0
    for (let at = 0; at < end;) at += (await file.write(buffer, at, end - at)).bytesWritten
  }
  return {
    flush,
    async add(chunk) {
      for (let consumed = 0; consumed < chunk.length;) {
        const part = chunk.subarray(consumed, consumed + buffer.length - filled)
        buffer.set(part, filled)
        filled += part.length
        consumed += part.length
        if (filled === buffer.length) await flush()
      }
      if (chunk.buffer instanceof ArrayBuffer && chunk.length === chunk.buffer.byteLength) {
        chunk.buffer.transfer(0)
      }
    },
  }
}
