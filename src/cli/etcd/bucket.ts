import type { Identity } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { Bucket } from '../../snapshot/s3/bucket.ts'
import { bucketStore } from '../../snapshot/s3/store.ts'
import type { SnapshotStore } from '../../snapshot/store.ts'
import type { Cluster } from '../../spec/cluster.ts'

type BucketSpec = Cluster['spec']['etcd']['backup']['s3']

/** The bucket that cluster.yml names, with the keys that the identity has for it. */
export function clusterBucket(s3: BucketSpec, identity: Identity): SnapshotStore {
  if (s3 === undefined) {
    throw new HyperkubeError('SNAPSHOT_STORE_UNKNOWN', 'cluster.yml names no bucket', {
      hint: 'spec.etcd.backup.s3 says where it is',
    })
  }
  const { prefix, accessKey, secretKey, ...place } = s3
  const keys = {
    accessKey: textOf(identity, accessKey.secret),
    secretKey: textOf(identity, secretKey.secret),
  }
  return bucketStore(new Bucket({ ...place, ...keys }), prefix)
}

function textOf({ secrets }: Identity, name: string): string {
  const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined
  if (secret !== undefined) return secret.revealText()
  throw new HyperkubeError('SNAPSHOT_STORE_NO_SECRET', `the identity has no secret ${name}`, {
    hint: `put it there from a file: hyperkube secret set ${name} --from-file FILE`,
  })
}
