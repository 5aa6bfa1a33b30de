import { type FileHandle, open } from 'node:fs/promises'
import { HyperkubeError } from '../../kit/errors.ts'
import {
  followLocations,
  isTransientUrlError,
  urlStatusError,
  urlTooLargeError,
  urlUnreachableError,
} from '../../kit/http-fetch.ts'
import type { Clock } from './clock.ts'
import { hashOpenFile, type ToLocalPath } from './local-files.ts'

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
            if (delayMs === undefined || !isTransientUrlError(error)) throw error
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
  const timer = setTimeout(
    () => stallAbort.abort(new Error(`no data received for ${stallMs / 1000} s`)),
    stallMs,
  )
  try {
    const { from, total, body } = await requestRange(url, size, AbortSignal.any([signal, stallAbort.signal]))
    if (from < size) await file.truncate(from)
    const hash = await hashOpenFile(file, from)
    let done = from
    if (total !== undefined && total > maxBytes) throw urlTooLargeError(url, maxBytes)
    const writer = createBufferedWriter(file)
    try {
      for await (const chunk of body) {
        timer.refresh()
        done += chunk.length
        if (done > maxBytes) throw urlTooLargeError(url, maxBytes)
        hash.update(chunk)
        await writer.add(chunk)
        progress(done, total)
      }
    } finally {
      // Writes the received bytes even after an error, so that a retry need not download them again.
      await writer.flush()
    }
    if (total !== undefined && done < total)
      throw new Error(`the download ended after ${done} of ${total} bytes`)
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
    throw urlUnreachableError(url, error)
  } finally {
    clearTimeout(timer)
  }
}

interface BufferedWriter {
  add(chunk: Uint8Array): Promise<void>
  flush(): Promise<void>
}

/**
 * Collects chunks in one buffer, because they are too small to be written one by one. Frees the memory of
 * each chunk after copying it, because otherwise the garbage collector would run too often.
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

/** The bytes of a file starting at `from`. The body is empty if the file has no more bytes. */
interface RangeResponse {
  readonly from: number
  /** Size of the whole file; undefined if the server does not report it. */
  readonly total: number | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Requests the bytes of a file starting at `from`. If the server does not support ranges, the response is the
 * whole file.
 */
async function requestRange(url: string, from: number, signal: AbortSignal): Promise<RangeResponse> {
  const response = await sendFollowed(url, from, signal)
  const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '')
  const total = range?.[2] === undefined ? undefined : Number(range[2])
  if (response.status === 416) {
    await response.body?.cancel()
    // If the sizes match, the local file is complete. Otherwise the local file belongs to another download,
    // and the download starts again.
    return total === from ? { from, total, body: emptyBody() } : requestRange(url, 0, signal)
  }
  const partial = response.status === 206
  if (partial && Number(range?.[1]) !== from) {
    await response.body?.cancel()
    throw new HyperkubeError('FETCH_REFUSED', `${url} returned another byte range than requested`)
  }
  const length = response.headers.get('content-length')
  return {
    from: partial ? from : 0,
    total: partial ? total : length === null ? undefined : Number(length),
    body: response.body ?? emptyBody(),
  }
}

async function sendFollowed(url: string, from: number, signal: AbortSignal): Promise<Response> {
  // In a compressed response the bytes would not match the digest.
  const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'hyperkube' }
  if (from > 0) headers['range'] = `bytes=${from}-`
  const { response } = await followLocations(url, async (currentUrl) => {
    const found = await fetch(currentUrl, { signal, headers, redirect: 'manual' })
    return {
      response: found,
      status: found.status,
      location: found.headers.get('location') ?? undefined,
      cancel: async () => found.body?.cancel(),
    }
  })
  if (response.ok || response.status === 416) return response
  await response.body?.cancel()
  throw urlStatusError(url, response.status)
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  // Yields nothing, because the body is empty.
}

interface DownloadOptions {
  readonly url: string
  /** Target file. It may contain the first part of an interrupted download, which is continued. */
  readonly into: string
  readonly maxBytes: number
  /** Called with the number of downloaded bytes and the total, which is not always known. */
  readonly progress: (done: number, total: number | undefined) => void
  readonly signal: AbortSignal
}

/** Downloads files by URL. Failures are HyperkubeErrors that name the URL. */
export interface Downloader {
  /** Downloads a file and returns its SHA-256 in hex. If the download fails, the received bytes are kept. */
  download(options: DownloadOptions): Promise<string>
}
