import { z } from 'zod'

/** Where a member of etcd has its data. Whoever restores it and the plans that start etcd must agree. */
export const etcdData = '/var/lib/etcd/data'
/** A member that has ever been one has files in it: where there are none, etcd takes itself for one that is just born. */
export const etcdLog = `${etcdData}/member/wal`
/**
 * Says that a member lives on this host. It lies apart from the data, which may go with a disk: without data nobody could
 * tell whether a member is born here, or has lost all that it knew.
 */
export const etcdBorn = '/var/lib/hyperkube/etcd-born'
export const etcdUnit = 'etcd.service'
/** Who owns it. */
export const etcdUser = 'etcd'

/** One restore of a whole etcd, from its first member to its last. */
export const etcdRestoreId = z.strictObject({
  /** Another one for each restore. etcd's own ids come from it: members of two restores never listen to each other. */
  id: z.uuid(),
  /** The sha256 of the database that it comes from, in hex. */
  snapshot: z.string().regex(/^[0-9a-f]{64}$/),
  /** All of etcd, in etcd's own words: cp1=https://10.0.0.1:2380 */
  members: z.array(z.string()).min(1),
})
export type EtcdRestoreId = z.infer<typeof etcdRestoreId>

/** How far a host has come in a restore that is not over. */
export const etcdRestore = etcdRestoreId.extend({ state: z.enum(['begun', 'placed']) })
export type EtcdRestore = z.infer<typeof etcdRestore>
