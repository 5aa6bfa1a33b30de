import { z } from 'zod'
import { etcdRestoreProgress } from './etcd-restore.ts'
import type { Format } from './versioned.ts'

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('EtcdRestoreState'),
  restore: etcdRestoreProgress,
  /** Inode of the directory with the complete new data. The rename into place keeps it. */
  dataInode: z.string().optional(),
  /** Inode of data that an earlier restore put in place and that never started. */
  discardedInode: z.string().optional(),
})
/** What a host must remember of an etcd restore until it ends, across restarts and crashes. */
export type EtcdRestoreState = z.infer<typeof stateSchema>

export const etcdRestoreStateFormat: Format<EtcdRestoreState> = {
  kind: 'EtcdRestoreState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
