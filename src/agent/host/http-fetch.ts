import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Clock } from './clock.ts'
import { type DownloadWish, type Fetch, isPassing, tooLarge, unreachable } from './fetch.ts'
import { ask } from './http-answer.ts'
import type { Place } from './place.ts'

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
    const hash = await hashOf(file, from)
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

/** Of what has come before. */
async function hashOf(file: FileHandle, end: number): Promise<Hash> {
  const hash = createHash('sha256')
  const chunk = Buffer.alloc(1 << 20)
  for (let at = 0; at < end;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at)
    hash.update(chunk.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash
}

interface Pieces {
  add(chunk: Uint8Array): Promise<void>
  flush(): Promise<void>
}

/** Chunks are so small that to write each by itself costs more than all the rest. */
function inPieces(file: FileHandle): Pieces {
  let [chunks, size]: [Uint8Array[], number] = [[], 0]
  const flush = async (): Promise<void> => {
    const all = chunks
    ;[chunks, size] = [[], 0]
    if (all.length > 0) await writeAll(file, all)
  }
  return {
    flush,
    async add(chunk) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= pieceSize) await flush()
    },
  }
}

async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const { bytesWritten } = await file.writev([...chunks])
  if (bytesWritten === size) return
  // A disk that is nearly full takes a part, and says why it takes no more when it is asked again.
  const rest = Buffer.concat(chunks).subarray(bytesWritten)
  for (let at = 0; at < rest.length;) at += (await file.write(rest, at)).bytesWritten
}
