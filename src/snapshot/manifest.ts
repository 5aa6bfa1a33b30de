import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'

const nonNegativeInt = z.int().min(0)
const fileDigest = z.strictObject({ size: nonNegativeInt, sha256: z.string().regex(/^[0-9a-f]{64}$/) })
/** Size and digest of a file. */
export type FileDigest = z.infer<typeof fileDigest>

/**
 * Files after the manifest and its signature, in this order. The database comes after them, so that the first
 * few kilobytes describe the whole snapshot.
 */
export const smallFiles = ['cluster.identity', 'cluster.yml', 'cluster.lock'] as const
export type SmallFile = (typeof smallFiles)[number]
export const databaseFile = 'etcd.db'

const manifestSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('EtcdSnapshot'),
  cluster: z.strictObject({ name: z.string().min(1), id: z.uuid() }),
  created: z.iso.datetime(),
  versions: z.strictObject({ hyperkube: z.string(), kubernetes: z.string(), etcd: z.string() }),
  /** The etcd member whose database was saved. The id is in hex. */
  member: z.strictObject({ name: z.string(), id: z.string().regex(/^[0-9a-f]{1,16}$/) }),
  /**
   * A revision that the database certainly contains, and the number of keys at that revision. Both are read
   * just before the database is saved, so the database may also contain later revisions.
   */
  revision: nonNegativeInt,
  keys: nonNegativeInt,
  files: z.strictObject({
    'cluster.identity': fileDigest,
    'cluster.yml': fileDigest,
    'cluster.lock': fileDigest,
    'etcd.db': fileDigest,
  }),
})
/** Describes the content of a snapshot: cluster, versions, and the digest of each file. */
export type SnapshotManifest = z.infer<typeof manifestSchema>

export const snapshotFormat: Format<SnapshotManifest> = {
  kind: 'EtcdSnapshot',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifestSchema },
  older: [],
}

export function formatSnapshotManifest(content: SnapshotManifest): string {
  return `${JSON.stringify(manifestSchema.parse(content), undefined, 2)}\n`
}
