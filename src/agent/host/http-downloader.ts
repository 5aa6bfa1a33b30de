import { type FileHandle, open } from 'node:fs/promises'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Clock } from './clock.ts'
import { hashFrom } from './file-hash.ts'
import { type DownloadWish, type Fetch, isPassing, tooLarge, unreachable } from './downloader.ts'
import { ask } from './http-range.ts'
import type { Place } from './local-path.ts'

/** Before each further try, in milliseconds. Whenever some more has come it begins anew. */
const pauses = [500, 2000, 5000, 10_000] as const
/** In bytes. */
const pieceSize = 1 << 20
/** So long without a byte is no connection any more. */
const patience = 60_000

export function httpFetch(place: Place, clock: Clock, stall = patience): Fetch {
  return {
    async download(wish) {
      const file = await open(place(wish.into), 'a+', 0o600)
      try {
        let furthest = 0
        for (let failures = 0; ;) {
          try {
            return await attempt(file, wish, stall)
          } catch (error) {
            wish.signal.throwIfAborted()
            const { size } = await file.stat()
            failures = size > furthest ? 1 : failures + 1
            furthest = Math.max(furthest, size)
            const pause = pauses[failures - 1]
            if (pause === undefined || !isPassing(error)) throw error
            await clock.pause(pause, wish.signal)
          }
        }
      } finally {
        await file.close()
      }
    },
  }
}

async function attempt(file: FileHandle, { url, limit, progress, signal }: DownloadWish, stall: number) {
  const { size } = await file.stat()
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error(`no byte came for ${stall / 1000} s`)), stall)
  try {
    const { from, total, body } = await ask(url, size, AbortSignal.any([signal, silence.signal]))
    if (from < size) await file.truncate(from)
    const hash = await hashFrom(file, from)
    let done = from
    if (total !== undefined && total > limit) throw tooLarge(url, limit)
    const pieces = inPieces(file)
    try {
      for await (const chunk of body) {
        timer.refresh()
        done += chunk.length
        if (done > limit) throw tooLarge(url, limit)
        hash.update(chunk)
        await pieces.add(chunk)
        progress(done, total)
      }
    } finally {
      // What came before it was cut need not come again.
      await pieces.flush()
    }
    if (total !== undefined && done < total) throw new Error(`it ended after ${done} of ${total} bytes`)
    await file.sync()
    return hash.digest('hex')
  } catch (error) {
    signal.throwIfAborted()
    // What the disk says is not about the network.
    if (
      error instanceof HyperkubeError ||
      (error instanceof Error && 'syscall' in error && error.syscall === 'write')
    )
      throw error
    throw unreachable(url, error)
  } finally {
    clearTimeout(timer)
  }
}

interface Pieces {
  add(chunk: Uint8Array): Promise<void>
  flush(): Promise<void>
}

/**
 * Chunks are so small that to write each by itself costs more than all the rest, so they are gathered in one buffer. Each
 * is given back at once: kept for the collector, they would call it again and again to look at all else that we hold.
 */
function inPieces(file: FileHandle): Pieces {
  const piece = Buffer.allocUnsafeSlow(pieceSize)
  let filled = 0
  const flush = async (): Promise<void> => {
    const end = filled
    filled = 0
    for (let at = 0; at < end;) at += (await file.write(piece, at, end - at)).bytesWritten
  }
  return {
    flush,
    async add(chunk) {
      for (let taken = 0; taken < chunk.length;) {
        const part = chunk.subarray(taken, taken + piece.length - filled)
        piece.set(part, filled)
        filled += part.length
        taken += part.length
        if (filled === piece.length) await flush()
      }
      if (chunk.buffer instanceof ArrayBuffer && chunk.length === chunk.buffer.byteLength) {
        chunk.buffer.transfer(0)
      }
    },
  }
}
