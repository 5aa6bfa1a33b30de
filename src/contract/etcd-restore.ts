import { z } from 'zod'

/** Data directory of an etcd member. The restore and the plans that start etcd must agree on it. */
export const etcdDataDirectory = '/var/lib/etcd/data'
/** Every initialized member has files here. Without them etcd starts as a new member. */
export const etcdWalDirectory = `${etcdDataDirectory}/member/wal`
/**
 * Marks that this host has an initialized member. It lies outside of the data directory: if the disk is lost,
 * it tells a new member from one that lost its data.
 */
export const etcdInitializedFile = '/var/lib/hyperkube/etcd-initialized'
export const etcdUnit = 'etcd.service'
/** Owner of the data. */
export const etcdUser = 'etcd'

/** Identifies one restore of a whole etcd cluster, from its first member to its last. */
export const etcdRestoreId = z.strictObject({
  /**
   * New for each restore. The etcd cluster id derives from it, so members of two restores never accept each
   * other.
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
