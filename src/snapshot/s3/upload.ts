import { type FileHandle, open } from 'node:fs/promises'
import { HyperkubeError } from '../../kit/errors.ts'
import type { ReportBytes } from '../store.ts'
import type { Bucket } from './bucket.ts'
import { buildCompletion, parseS3Error, parseUploadId, toBucketError } from './responses.ts'

/**
 * Size of an upload part, in bytes; one part at a time is in memory. S3 accepts up to 10,000 parts of at
 * least 5 MiB.
 */
const partSize = 8 << 20
/** Timeout for aborting a failed upload, in milliseconds. */
const abortTimeoutMs = 10_000

/**
 * Uploads a file in one request or in several parts. The object becomes visible only when the upload is
 * complete.
 */
export async function uploadToBucket(
  bucket: Bucket,
  key: string,
  path: string,
  progress: ReportBytes,
  signal: AbortSignal,
): Promise<void> {
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  const description = `put ${key}`
  if (size <= partSize) {
    await bucket.request({ method: 'PUT', description, key, body: await readPiece(file, 0, size) }, signal)
  } else {
    await uploadInParts(bucket, key, description, file, size, progress, signal)
  }
  const storedSize = await readStoredSize(bucket, key, signal)
  if (storedSize !== String(size)) {
    throw new HyperkubeError(
      'SNAPSHOT_STORE_FAILED',
      `${bucket.title}: ${key} has ${storedSize ?? 'no'} bytes instead of ${size}`,
      {
        hint: 'check the log of the S3 server, then save the snapshot with another name',
      },
    )
  }
  progress(size, size)
}

async function readStoredSize(bucket: Bucket, key: string, signal: AbortSignal): Promise<string | null> {
  const { headers } = await bucket.request({ method: 'HEAD', description: `check ${key}`, key }, signal)
  return headers.get('content-length')
}

async function uploadInParts(
  bucket: Bucket,
  key: string,
  description: string,
  file: FileHandle,
  size: number,
  progress: ReportBytes,
  signal: AbortSignal,
): Promise<void> {
  const started = await bucket.request({ method: 'POST', description, key, query: { uploads: '' } }, signal)
  const id = parseUploadId(started.text)
  if (id === undefined) throw toBucketError(bucket.title, description, 200, started.text)
  try {
    const etags: string[] = []
    for (let at = 0; at < size; at += partSize) {
      const body = await readPiece(file, at, Math.min(partSize, size - at))
      const query = { partNumber: String(etags.length + 1), uploadId: id }
      const { headers } = await bucket.request({ method: 'PUT', description, key, query, body }, signal)
      etags.push(headers.get('etag') ?? '')
      progress(at + body.length, size)
    }
    await completeUpload(bucket, { key, description, id, etags }, signal).catch(async (error: unknown) => {
      // If only the response was lost, the upload is complete, and a repeated request fails.
      const storedSize = await readStoredSize(bucket, key, signal).catch(() => undefined)
      if (storedSize !== String(size)) throw error
    })
  } catch (error) {
    const abortRequest = {
      method: 'DELETE',
      description: `abort the upload of ${key}`,
      key,
      query: { uploadId: id },
    } as const
    await bucket.request(abortRequest, AbortSignal.timeout(abortTimeoutMs)).catch(() => undefined)
    throw error
  }
}

interface PartsUpload {
  readonly key: string
  readonly description: string
  readonly id: string
  readonly etags: readonly string[]
}

async function completeUpload(
  bucket: Bucket,
  { key, description, id, etags }: PartsUpload,
  signal: AbortSignal,
): Promise<void> {
  const body = buildCompletion(etags)
  const done = await bucket.request(
    { method: 'POST', description, key, query: { uploadId: id }, body },
    signal,
  )
  // An S3 server may report an error in the body of a response with status 200.
  if (parseS3Error(done.text) !== undefined) throw toBucketError(bucket.title, description, 200, done.text)
}

async function readPiece(file: FileHandle, from: number, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const piece = new Uint8Array(size)
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(piece, at, size - at, from + at)
    if (bytesRead === 0) throw new Error('the file became shorter while it was read')
    at += bytesRead
  }
  return piece
}
