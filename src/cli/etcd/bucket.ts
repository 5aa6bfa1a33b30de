import type { Identity } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { Bucket } from '../../snapshot/s3/bucket.ts'
import { createBucketStore } from '../../snapshot/s3/store.ts'
import type { SnapshotStore } from '../../snapshot/store.ts'
import type { Cluster } from '../../spec/cluster.ts'

type BucketSpec = Cluster['spec']['etcd']['backup']['s3']

/** Opens the bucket that cluster.yml names, with its keys from the identity. */
export function openClusterBucket(s3: BucketSpec, identity: Identity): SnapshotStore {
  if (s3 === undefined) {
    throw new HyperkubeError('SNAPSHOT_STORE_UNKNOWN', 'cluster.yml names no bucket', {
      hint: 'spec.etcd.backup.s3 says where it is',
    })
  }
  const { prefix, accessKey, secretKey, ...location } = s3
  const keys = {
    accessKey: readSecretText(identity, accessKey.secret),
    secretKey: readSecretText(identity, secretKey.secret),
  }
  return createBucketStore(new Bucket({ ...location, ...keys }), prefix)
}

function readSecretText({ secrets }: Identity, name: string): string {
  const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined
  if (secret !== undefined) return secret.revealText()
  throw new HyperkubeError('SNAPSHOT_STORE_NO_SECRET', `the identity has no secret ${name}`, {
    hint: `put it there from a file: hyperkube secret set ${name} --from-file FILE`,
  })
}
