import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/printable.ts'
import { parseS3Error } from './responses.ts'

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
      hint: 'look at the keys of spec.etcd.backup.s3, what they may do, and the clock of this machine',
    })
  }
  return new HyperkubeError('SNAPSHOT_STORE_FAILED', summary, {
    hint:
      status >= 300 && status < 400
        ? 'it is in another place: look at region and endpoint of spec.etcd.backup.s3'
        : 'look at spec.etcd.backup.s3, and at the server’s own log',
  })
}

export function bucketUnreachable(title: string, description: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_STORE_UNREACHABLE', `${title}: ${description}: no answer`, {
    hint: 'can its endpoint be reached from here? curl -v shows it',
    cause,
  })
}

/** True if the same request may succeed later. */
export function isTransientBucketError(error: unknown): boolean {
  return error instanceof HyperkubeError && error.code === 'SNAPSHOT_STORE_UNREACHABLE'
}
