import { type FileHandle, open } from 'node:fs/promises'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Progress } from '../store.ts'
import { completion, refusal, uploadId } from './responses.ts'
import type { Bucket } from './bucket.ts'
import { refusedBy } from './errors.ts'

/** So much of a file is in memory at once, in bytes. A server takes ten thousand parts of at least 5 MiB. */
const partSize = 8 << 20
/** For taking back what was begun, in milliseconds. */
const moment = 10_000

/** Puts a file into a bucket: at once, or in parts that bear their name together only at the end. */
export async function upload(
  bucket: Bucket,
  key: string,
  path: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  const what = `put ${key}`
  if (size <= partSize) {
    await bucket.ask({ method: 'PUT', what, key, body: await pieceOf(file, 0, size) }, signal)
  } else {
    await inParts(bucket, key, what, file, size, progress, signal)
  }
  const { headers } = await bucket.ask({ method: 'HEAD', what: `look at ${key}`, key }, signal)
  if (headers.get('content-length') !== String(size)) {
    const there = headers.get('content-length') ?? 'no'
    throw new HyperkubeError(
      'SNAPSHOT_STORE_FAILED',
      `${bucket.title}: ${key} has ${there} bytes, and not ${size}`,
      {
        hint: 'look at the server’s own log, then the same again under another name',
      },
    )
  }
  progress(size, size)
}

async function inParts(
  bucket: Bucket,
  key: string,
  what: string,
  file: FileHandle,
  size: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const begun = await bucket.ask({ method: 'POST', what, key, query: { uploads: '' } }, signal)
  const id = uploadId(begun.text)
  if (id === undefined) throw refusedBy(bucket.title, what, 200, begun.text)
  try {
    const etags: string[] = []
    for (let at = 0; at < size; at += partSize) {
      const body = await pieceOf(file, at, Math.min(partSize, size - at))
      const query = { partNumber: String(etags.length + 1), uploadId: id }
      const { headers } = await bucket.ask({ method: 'PUT', what, key, query, body }, signal)
      etags.push(headers.get('etag') ?? '')
      progress(at + body.length, size)
    }
    const body = completion(etags)
    const done = await bucket.ask({ method: 'POST', what, key, query: { uploadId: id }, body }, signal)
    // It may find out that it cannot only after it has said that all is well.
    if (refusal(done.text) !== undefined) throw refusedBy(bucket.title, what, 200, done.text)
  } catch (error) {
    const given = { method: 'DELETE', what: `give up ${key}`, key, query: { uploadId: id } } as const
    await bucket.ask(given, AbortSignal.timeout(moment)).catch(() => undefined)
    throw error
  }
}

async function pieceOf(file: FileHandle, from: number, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const piece = new Uint8Array(size)
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(piece, at, size - at, from + at)
    if (bytesRead === 0) throw new Error('the file became shorter while it was read')
    at += bytesRead
  }
  return piece
}
