import { z } from 'zod'
import { etcdRestore } from './etcd-restore.ts'
import type { Format } from './versioned.ts'

const memory = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('EtcdRestoreMemory'),
  restore: etcdRestore,
  /** The inode of the directory with the new data, once that is whole. It keeps it when it gets its name. */
  data: z.string().optional(),
  /** The inode of what a restore before this one had placed, and that was never started. */
  discarded: z.string().optional(),
})
/** What a host must know of a restore of etcd until that is over, whatever happens in between. */
export type EtcdRestoreMemory = z.infer<typeof memory>

export const etcdRestoreMemoryFormat: Format<EtcdRestoreMemory> = {
  kind: 'EtcdRestoreMemory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: memory },
  older: [],
}
