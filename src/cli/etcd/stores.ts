import { dirname, resolve } from 'node:path'
import type { Identity } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { HttpRoute } from '../../kit/http-route.ts'
import { openClusterWeb } from '../../workspace/cluster-web.ts'
import { createDirectoryStore } from '../../snapshot/directory-store.ts'
import { Bucket } from '../../snapshot/s3/bucket.ts'
import { createBucketStore } from '../../snapshot/s3/store.ts'
import type { SnapshotStore, StoredSnapshot } from '../../snapshot/store.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { EtcdInvocation } from './action.ts'

/** Directory for snapshots if cluster.yml does not configure a store. */
const defaultDirectory = 'snapshots'

export interface SnapshotStores {
  readonly all: readonly SnapshotStore[]
  /**
   * Path of the directory store; undefined if there is none. A snapshot is first written to a temporary
   * directory inside this directory. The file can then be hard-linked into the store without a copy.
   */
  readonly directory: string | undefined
}

/**
 * Opens the store named on the command line (`s3` or a directory), otherwise all stores of cluster.yml. The
 * identity is opened only for a bucket, because it contains the bucket's keys.
 */
export async function openSnapshotStores(
  { context, options, cluster, identity }: EtcdInvocation,
  named?: string,
): Promise<SnapshotStores> {
  const { directory, s3 } = cluster.spec.etcd.backup
  const openBucket = async (): Promise<SnapshotStore> => {
    const { route } = await openClusterWeb(context, options, cluster)
    return openClusterBucket(s3, await identity(), route)
  }
  if (named === 's3') return { all: [await openBucket()], directory: undefined }
  const path =
    named === undefined ? resolveDirectory(options.file, directory, s3 !== undefined) : resolve(named)
  const buckets = named === undefined && s3 !== undefined ? [await openBucket()] : []
  return { all: [...(path === undefined ? [] : [createDirectoryStore(path)]), ...buckets], directory: path }
}

/**
 * Lists the snapshots of a store. Returns the error of a store that cannot be read, because another store may have
 * the snapshot.
 */
export async function listUnlessFailed(
  store: SnapshotStore,
  signal: AbortSignal,
): Promise<readonly StoredSnapshot[] | HyperkubeError> {
  return store.list(signal).catch((error: unknown) => {
    signal.throwIfAborted()
    if (error instanceof HyperkubeError) return error
    throw error
  })
}

function resolveDirectory(
  clusterFile: string,
  directory: string | undefined,
  hasBucket: boolean,
): string | undefined {
  if (directory === undefined && hasBucket) return undefined
  return resolve(dirname(clusterFile), directory ?? defaultDirectory)
}

type BucketSpec = Cluster['spec']['etcd']['backup']['s3']

/** Opens the bucket of cluster.yml with the keys from the identity. */
function openClusterBucket(s3: BucketSpec, identity: Identity, route: HttpRoute): SnapshotStore {
  if (s3 === undefined) {
    throw new HyperkubeError('SNAPSHOT_STORE_UNKNOWN', 'cluster.yml has no S3 bucket for snapshots', {
      hint: 'set the bucket in spec.etcd.backup.s3',
    })
  }
  const { prefix, accessKey, secretKey, ...location } = s3
  const keys = {
    accessKey: readSecretText(identity, accessKey.secret),
    secretKey: readSecretText(identity, secretKey.secret),
  }
  return createBucketStore(new Bucket({ ...location, ...keys, route }), prefix)
}

function readSecretText({ secrets }: Identity, name: string): string {
  const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined
  if (secret !== undefined) return secret.revealText()
  throw new HyperkubeError('SNAPSHOT_STORE_NO_SECRET', `the cluster identity has no secret ${name}`, {
    hint: `store it: hyperkube secret set ${name} --from-file FILE`,
  })
}
