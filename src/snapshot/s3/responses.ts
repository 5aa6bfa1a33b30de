import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import type { StoredSnapshot } from '../store.ts'

/* S3 servers respond with XML. Only a few known elements are read. */

export interface ObjectPage {
  /** The objects of this page. Each name is a complete key, including the prefix. */
  readonly objects: readonly StoredSnapshot[]
  /** Token for requesting the next page; undefined on the last page. */
  readonly next: string | undefined
}

export function parseObjectPage(xml: string): ObjectPage {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, content = '']) => {
    const [name, size, modified] = [
      readElement(content, 'Key'),
      readElement(content, 'Size'),
      readElement(content, 'LastModified'),
    ]
    const time = new Date(modified ?? '')
    if (name === undefined || !/^\d{1,15}$/.test(size ?? '') || Number.isNaN(time.getTime())) return []
    return [{ name, size: Number(size), modified: time }]
  })
  return { objects, next: readElement(xml, 'NextContinuationToken') }
}

export function parseUploadId(xml: string): string | undefined {
  return readElement(xml, 'UploadId')
}

/** Parses an error response. Returns undefined if the text is not an S3 error. */
export function parseS3Error(xml: string): { readonly code: string; readonly message: string } | undefined {
  const error = /<Error>(.*?)<\/Error>/s.exec(xml)?.[1]
  if (error === undefined) return undefined
  return { code: readElement(error, 'Code') ?? '', message: readElement(error, 'Message') ?? '' }
}

/** Builds the request body that completes a multipart upload. */
export function buildCompletion(etags: readonly string[]): string {
  const parts = etags.map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  )
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
}

function readElement(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text?.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (match, decimal, hex, entity) =>
    decodeEntity(match, decimal, hex, entity),
  )
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeEntity(match: string, decimal?: string, hex?: string, entity = ''): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  if (Number.isNaN(code)) return entities[entity] ?? match
  return code > 0x10_ff_ff ? match : String.fromCodePoint(code)
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Converts an error response to an error with the message of the server. */
export function toBucketError(
  title: string,
  description: string,
  status: number,
  body: string,
): HyperkubeError {
  const { code = '', message = '' } = parseS3Error(body) ?? {}
  const summary = toPrintable(
    `${title}: ${description}: status ${status} ${code} ${message}`.trim().slice(0, 500),
  )
  if (status >= 500 || status === 429) return new HyperkubeError('SNAPSHOT_STORE_UNREACHABLE', summary)
  if (code === 'NoSuchBucket') {
    return new HyperkubeError('SNAPSHOT_STORE_UNKNOWN', summary, {
      hint: 'create the bucket, or fix spec.etcd.backup.s3',
    })
  }
  if (status === 401 || status === 403) {
    return new HyperkubeError('SNAPSHOT_STORE_DENIED', summary, {
      hint: 'check the keys of spec.etcd.backup.s3, their permissions, and the clock of this machine',
    })
  }
  return new HyperkubeError('SNAPSHOT_STORE_FAILED', summary, {
    hint:
      status >= 300 && status < 400
        ? 'the bucket is elsewhere: check region and endpoint of spec.etcd.backup.s3'
        : 'check spec.etcd.backup.s3 and the log of the S3 server',
  })
}

export function bucketUnreachable(title: string, description: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_STORE_UNREACHABLE', `${title}: ${description}: no response`, {
    hint: 'check that this machine reaches the endpoint of spec.etcd.backup.s3: curl -v ENDPOINT; without the bucket, save with --to DIRECTORY and read with --from DIRECTORY',
    cause,
  })
}

/** True if the same request may succeed later. */
export function isTransientBucketError(error: unknown): boolean {
  return error instanceof HyperkubeError && error.code === 'SNAPSHOT_STORE_UNREACHABLE'
}
