import { type FileHandle, open } from 'node:fs/promises'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { finished } from 'node:stream/promises'
import { HyperkubeError } from '../../kit/errors.ts'
import {
  followLocations,
  isTransientUrlError,
  urlStatusError,
  urlTooLargeError,
  urlUnreachableError,
} from '../../kit/http-fetch.ts'
import { createRouteAgent, type HttpRoute } from '../../kit/http-route.ts'
import type { Clock } from './clock.ts'
import { createHashingWriter, type HashingWriter, releaseBytes } from './hashing-writer.ts'
import { hashOpenFile, type ToLocalPath } from './local-files.ts'

/** Milliseconds before each retry. After progress, the next retry uses the first delay again. */
const retryDelaysMs = [500, 2000, 5000, 10_000] as const
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
  { url, maxBytes, progress, route = {}, signal }: DownloadOptions,
  stallMs: number,
) {
  const { size } = await file.stat()
  const stallAbort = new AbortController()
  const timer = setTimeout(
    () => stallAbort.abort(new Error(`no data received for ${stallMs / 1000} s`)),
    stallMs,
  )
  try {
    const { from, total, body } = await requestRange(
      { url, route },
      size,
      AbortSignal.any([signal, stallAbort.signal]),
    )
    if (from < size) await file.truncate(from)
    if (total !== undefined && total > maxBytes) {
      body?.destroy()
      throw urlTooLargeError(url, maxBytes)
    }
    const writer = createHashingWriter(file, await hashOpenFile(file, from))
    let done = from
    try {
      if (body !== undefined)
        await receiveBody(body, writer, (length) => {
          timer.refresh()
          done += length
          if (done > maxBytes) return urlTooLargeError(url, maxBytes)
          progress(done, total)
          return undefined
        })
    } finally {
      // Writes the received bytes even after an error, so that a retry need not download them again.
      await writer.flush()
    }
    if (total !== undefined && done < total)
      throw new Error(`the download ended after ${done} of ${total} bytes`)
    await file.sync()
    return writer.digest()
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

/**
 * Adds all chunks of a body to a writer. Listens to events, because an async iterator would copy several
 * chunks into one. `check` gets the length of each chunk and returns an error that ends the download.
 */
async function receiveBody(
  body: IncomingMessage,
  writer: HashingWriter,
  check: (length: number) => Error | undefined,
): Promise<void> {
  body.on('data', (chunk: Buffer) => {
    const error = check(chunk.length)
    if (error !== undefined) {
      body.destroy(error)
      return
    }
    if (writer.add(chunk)) return
    body.pause()
    writer.flush().then(
      () => body.resume(),
      (cause: Error) => body.destroy(cause),
    )
  })
  await finished(body)
}

/** The bytes of a file starting at `from`. The body is undefined if the file has no more bytes. */
interface RangeResponse {
  readonly from: number
  /** Size of the whole file; undefined if the server does not report it. */
  readonly total: number | undefined
  readonly body: IncomingMessage | undefined
}

/**
 * Requests the bytes of a file starting at `from`. If the server does not support ranges, the response is the
 * whole file.
 */
async function requestRange(
  target: DownloadTarget,
  from: number,
  signal: AbortSignal,
): Promise<RangeResponse> {
  const { url } = target
  const response = await sendFollowed(target, from, signal)
  const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers['content-range'] ?? '')
  const total = range?.[2] === undefined ? undefined : Number(range[2])
  if (response.statusCode === 416) {
    response.destroy()
    // If the sizes match, the local file is complete. Otherwise the local file belongs to another download,
    // and the download starts again.
    return total === from ? { from, total, body: undefined } : requestRange(target, 0, signal)
  }
  const partial = response.statusCode === 206
  if (partial && Number(range?.[1]) !== from) {
    response.destroy()
    throw new HyperkubeError('FETCH_REFUSED', `${url} returned another byte range than requested`)
  }
  const length = response.headers['content-length']
  return {
    from: partial ? from : 0,
    total: partial ? total : length === undefined ? undefined : Number(length),
    body: response,
  }
}

async function sendFollowed(
  { url, route }: DownloadTarget,
  from: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // The digest is that of the uncompressed file, so the server must not compress the response.
  const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'hyperkube' }
  if (from > 0) headers['range'] = `bytes=${from}-`
  const { response } = await followLocations(url, async (currentUrl) => {
    const found = await send({ url: currentUrl, route }, headers, signal)
    return {
      response: found,
      status: found.statusCode ?? 0,
      location: found.headers.location,
      cancel: async () => void found.destroy(),
    }
  })
  const { statusCode = 0 } = response
  if ((statusCode >= 200 && statusCode < 300) || statusCode === 416) return response
  response.destroy()
  throw urlStatusError(url, statusCode)
}

/**
 * Sends a GET request. `fetch` is not used, because its streams take twice as much processor time.
 * `releaseBytes` frees each block of the socket as soon as node:http has copied it. Otherwise the garbage
 * collector would run after every 25 MB.
 */
async function send(
  { url, route }: DownloadTarget,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? requestTls : requestPlain
  return new Promise((resolve, reject) => {
    // Each request opens a new connection. The listener of node:http is then always the first one, so it
    // copies each block before `releaseBytes` frees it.
    const agent = createRouteAgent(route, url, { keepAlive: false })
    request(url, { headers, signal, agent }, resolve)
      .on('socket', (socket) => void socket.on('data', releaseBytes))
      .on('error', (error) => reject(urlUnreachableError(url, error)))
      .end()
  })
}

interface DownloadTarget {
  readonly url: string
  readonly route: HttpRoute
}

interface DownloadOptions {
  readonly url: string
  /** Target file. It may contain the first part of an interrupted download, which is continued. */
  readonly into: string
  readonly maxBytes: number
  /** Proxy and private CAs. Default: a direct connection. */
  readonly route?: HttpRoute
  /** Called with the number of downloaded bytes and the total, which is not always known. */
  readonly progress: (done: number, total: number | undefined) => void
  readonly signal: AbortSignal
}

/** Downloads files by URL. Failures are HyperkubeErrors that name the URL. */
export interface Downloader {
  /** Downloads a file and returns its SHA-256 in hex. If the download fails, the received bytes are kept. */
  download(options: DownloadOptions): Promise<string>
}
