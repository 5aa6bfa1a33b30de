import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { refusal } from './responses.ts'

/** A server that says no, in its own words. */
export function refusedBy(title: string, what: string, status: number, body: string): HyperkubeError {
  const { code = '', message = '' } = refusal(body) ?? {}
  const words = printable(`${title}: ${what}: status ${status} ${code} ${message}`.trim().slice(0, 500))
  if (status >= 500 || status === 429) return new HyperkubeError('SNAPSHOT_STORE_UNREACHABLE', words)
  if (code === 'NoSuchBucket') {
    return new HyperkubeError('SNAPSHOT_STORE_UNKNOWN', words, {
      hint: 'make the bucket, or mend spec.etcd.backup.s3',
    })
  }
  if (status === 401 || status === 403) {
    return new HyperkubeError('SNAPSHOT_STORE_DENIED', words, {
      hint: 'look at the keys of spec.etcd.backup.s3, what they may do, and the clock of this machine',
    })
  }
  return new HyperkubeError('SNAPSHOT_STORE_FAILED', words, {
    hint:
      status >= 300 && status < 400
        ? 'it is in another place: look at region and endpoint of spec.etcd.backup.s3'
        : 'look at spec.etcd.backup.s3, and at the server’s own log',
  })
}

export function unreachable(title: string, what: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_STORE_UNREACHABLE', `${title}: ${what}: no answer`, {
    hint: 'can its endpoint be reached from here? curl -v shows it',
    cause,
  })
}

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return error instanceof HyperkubeError && error.code === 'SNAPSHOT_STORE_UNREACHABLE'
}
