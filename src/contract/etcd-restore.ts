import { z } from 'zod'
import type { Format } from './versioned.ts'

/**
 * Data directory of an etcd member. The restore and the planned etcd configuration must use the same path.
 */
export const etcdDataDirectory = '/var/lib/etcd/data'
/**
 * WAL directory of etcd. Every initialized member has files here; without them etcd starts as a new member.
 */
export const etcdWalDirectory = `${etcdDataDirectory}/member/wal`
/**
 * Marker file: this host has an initialized etcd member. It is outside of the data directory, so a member
 * that lost its data is not mistaken for a new one.
 */
export const etcdInitializedFile = '/var/lib/hyperkube/etcd-initialized'
export const etcdUnit = 'etcd.service'
/** User that owns the etcd data and runs etcd. */
export const etcdUser = 'etcd'

/** Identifies one restore of a whole etcd cluster, from its first member to its last. */
export const etcdRestoreId = z.strictObject({
  /**
   * UUID of the restore. The etcd cluster id is derived from it, so members of two different restores never
   * accept each other.
   */
  id: z.uuid(),
  /** SHA-256 of the source database, in hex. */
  snapshot: z.string().regex(/^[0-9a-f]{64}$/),
  /** All members in etcd's syntax: cp1=https://10.0.0.1:2380 */
  members: z.array(z.string()).min(1),
})
export type EtcdRestoreId = z.infer<typeof etcdRestoreId>

/** Progress of a host in an unfinished restore. */
export const etcdRestoreProgress = etcdRestoreId.extend({ state: z.enum(['begun', 'data-restored']) })
export type EtcdRestoreProgress = z.infer<typeof etcdRestoreProgress>

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('EtcdRestoreState'),
  restore: etcdRestoreProgress,
  /**
   * Inode of the directory with the complete restored data. The inode stays the same when the directory is
   * renamed to its final path.
   */
  dataInode: z.string().optional(),
  /**
   * Inode of a data directory that an earlier, unfinished restore left behind. The next restore deletes this
   * directory, because etcd never started with its data.
   */
  discardedInode: z.string().optional(),
})
/**
 * Progress of an etcd restore on a host. It is stored on disk until the restore ends, so it survives restarts
 * and crashes.
 */
export type EtcdRestoreState = z.infer<typeof stateSchema>

export const etcdRestoreStateFormat: Format<EtcdRestoreState> = {
  kind: 'EtcdRestoreState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
