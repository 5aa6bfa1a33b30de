import { HyperkubeError } from '../kit/errors.ts'

export function snapshotCorrupt(part: string, cause?: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_CORRUPT', `the snapshot is not as it was made: ${part}`, {
    hint: 'copy it again from where it is kept, or take another one: hyperkube etcd snapshot list',
    ...(cause === undefined ? {} : { cause }),
  })
}

export function snapshotTruncated(location: string): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_TRUNCATED', `the snapshot ends too early: ${location}`, {
    hint: 'copy it again from where it is kept, or take another one: hyperkube etcd snapshot list',
  })
}

export function snapshotForeign(reason: string, cause?: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_FOREIGN', `the snapshot is not of this cluster: ${reason}`, {
    hint: '-f names the cluster.yml of another cluster, --key the key of its identity',
    ...(cause === undefined ? {} : { cause }),
  })
}

export function snapshotNotRestored(cause: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_NOT_RESTORED', 'etcd cannot be restored from the snapshot', {
    component: 'etcd',
    hint: 'take another one: hyperkube etcd snapshot list',
    cause,
  })
}
