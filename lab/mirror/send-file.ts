import { createReadStream } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { byteRange } from './byte-range.ts'

export interface SentFile {
  readonly path: string
  readonly size: number
  readonly headers: OutgoingHttpHeaders
}

/** Answers with a file, or with the part of it that is asked for: containerd resumes a layer where it was cut off. */
export async function sendFile(
  { path, size, headers }: SentFile,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const range = request.method === 'GET' ? byteRange(request.headers.range, size) : 'all'
  if (range === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end()
    return
  }
  const always = { ...headers, 'accept-ranges': 'bytes' }
  if (range === 'all') {
    response.writeHead(200, { ...always, 'content-length': size })
  } else {
    const { first, last } = range
    response.writeHead(206, {
      ...always,
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
