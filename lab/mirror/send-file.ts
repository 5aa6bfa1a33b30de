import { createReadStream } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { parseByteRange } from './byte-range.ts'

export interface SentFile {
  readonly path: string
  readonly size: number
  readonly headers: OutgoingHttpHeaders
}

/**
 * Sends a file, or only the requested byte range, with which containerd resumes an interrupted download of a
 * layer.
 */
export async function sendFile(
  { path, size, headers }: SentFile,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const range = request.method === 'GET' ? parseByteRange(request.headers.range, size) : 'all'
  if (range === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end()
    return
  }
  const commonHeaders = { ...headers, 'accept-ranges': 'bytes' }
  if (range === 'all') {
    response.writeHead(200, { ...commonHeaders, 'content-length': size })
  } else {
    const { first, last } = range
    response.writeHead(206, {
      ...commonHeaders,
      'content-length': last - first + 1,
      'content-range': `bytes ${first}-${last}/${size}`,
    })
  }
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  const bounds = range === 'all' ? {} : { start: range.first, end: range.last }
  await pipeline(createReadStream(path, { ...bounds, highWaterMark: 1 << 20 }), response)
}
