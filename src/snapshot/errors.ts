import { HyperkubeError } from '../kit/errors.ts'

export function snapshotCorrupt(part: string, cause?: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_CORRUPT', `the snapshot is corrupt: ${part}`, {
    hint: 'copy the snapshot again, or choose another one: hyperkube etcd snapshot list',
    ...(cause === undefined ? {} : { cause }),
  })
}

export function snapshotTruncated(location: string): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_TRUNCATED', `the snapshot is truncated: ${location}`, {
    hint: 'copy the snapshot again, or choose another one: hyperkube etcd snapshot list',
  })
}

export function snapshotForeign(reason: string, cause?: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_FOREIGN', `the snapshot belongs to another cluster: ${reason}`, {
    hint: 'to use another cluster: -f CLUSTER_YML --key KEY_FILE',
    ...(cause === undefined ? {} : { cause }),
  })
}

export function snapshotNotRestored(cause: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_NOT_RESTORED', 'etcd cannot be restored from the snapshot', {
    component: 'etcd',
    hint: 'choose another snapshot: hyperkube etcd snapshot list',
    cause,
  })
}
