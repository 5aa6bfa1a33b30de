import { dirname, resolve } from 'node:path'
import { directoryStore } from '../../snapshot/directory-store.ts'
import type { SnapshotStore } from '../../snapshot/store.ts'
import { clusterBucket } from './bucket.ts'
import type { EtcdScene } from './action.ts'

/** Where snapshots go where cluster.yml names no place for them. */
const usual = 'snapshots'

export interface Stores {
  readonly all: readonly SnapshotStore[]
  /** That of the first one that is a directory, so that a file is made on the disk where it shall be. */
  readonly directory: string | undefined
}

/**
 * The place that was named on the command line: `s3`, or a directory. Otherwise all that cluster.yml names. Only who uses a
 * bucket needs the identity, which has its keys.
 */
export async function storesOf({ options, cluster, identity }: EtcdScene, named?: string): Promise<Stores> {
  const { directory, s3 } = cluster.spec.etcd.backup
  const bucket = async (): Promise<SnapshotStore> => clusterBucket(s3, await identity())
  if (named === 's3') return { all: [await bucket()], directory: undefined }
  const path = named === undefined ? besideCluster(options.file, directory, s3 !== undefined) : resolve(named)
  const buckets = named === undefined && s3 !== undefined ? [await bucket()] : []
  return { all: [...(path === undefined ? [] : [directoryStore(path)]), ...buckets], directory: path }
}

function besideCluster(
  clusterFile: string,
  directory: string | undefined,
  isElsewhere: boolean,
): string | undefined {
  if (directory === undefined && isElsewhere) return undefined
  return resolve(dirname(clusterFile), directory ?? usual)
}
