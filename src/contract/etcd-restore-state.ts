import { z } from 'zod'
import { etcdRestoreProgress } from './etcd-restore.ts'
import type { Format } from './versioned.ts'

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('EtcdRestoreState'),
  restore: etcdRestoreProgress,
  /**
   * Inode of the directory with the complete restored data. The inode stays the same when the directory is
   * renamed to its final path.
   */
  dataInode: z.string().optional(),
  /** Inode of a data directory from an earlier restore that etcd never started with. */
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
