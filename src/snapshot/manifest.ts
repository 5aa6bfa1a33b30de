import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'

const count = z.int().min(0)
const file = z.strictObject({ size: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) })
/** How large a file is, and what is in it. */
export type FileDigest = z.infer<typeof file>

/**
 * The files behind the manifest and its signature, in this order. The database comes last: whoever wants to know what is
 * in a snapshot reads its first few kilobytes.
 */
export const smallFiles = ['cluster.identity', 'cluster.yml', 'cluster.lock'] as const
export type SmallFile = (typeof smallFiles)[number]
export const databaseFile = 'etcd.db'

const manifest = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('EtcdSnapshot'),
  cluster: z.strictObject({ name: z.string().min(1), id: z.uuid() }),
  created: z.iso.datetime(),
  versions: z.strictObject({ hyperkube: z.string(), kubernetes: z.string(), etcd: z.string() }),
  /** Which member of etcd gave its database. Its id is in hex. */
  member: z.strictObject({ name: z.string(), id: z.string().regex(/^[0-9a-f]{1,16}$/) }),
  /**
   * A revision that is in the database for certain, and how many keys there were as of it. Both were asked the moment
   * before the database was; what was written in between has later revisions, and may be in it as well.
   */
  revision: count,
  keys: count,
  files: z.strictObject({
    'cluster.identity': file,
    'cluster.yml': file,
    'cluster.lock': file,
    'etcd.db': file,
  }),
})
/** What is in a snapshot. */
export type SnapshotManifest = z.infer<typeof manifest>

export const snapshotFormat: Format<SnapshotManifest> = {
  kind: 'EtcdSnapshot',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifest },
  older: [],
}

export function manifestText(content: SnapshotManifest): string {
  return `${JSON.stringify(manifest.parse(content), undefined, 2)}\n`
}
