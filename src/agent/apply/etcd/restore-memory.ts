import { join } from 'node:path'
import { z } from 'zod'
import { etcdRestore } from '../../../contract/etcd-restore.ts'
import { type Format, readVersioned } from '../../../contract/versioned.ts'
import type { LinuxHost } from '../../host/host.ts'
import { accessOf } from '../access.ts'

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
export type RestoreMemory = Omit<z.infer<typeof memory>, 'apiVersion' | 'kind'>

export const restoreMemoryFormat: Format<z.infer<typeof memory>> = {
  kind: 'EtcdRestoreMemory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: memory },
  older: [],
}

export async function readMemory(host: LinuxHost): Promise<RestoreMemory | undefined> {
  const text = await host.files.read(pathOf(host))
  if (text === undefined) return undefined
  const {
    apiVersion: _,
    kind: __,
    ...known
  } = readVersioned(restoreMemoryFormat, JSON.parse(text.toString('utf8')))
  return known
}

export async function writeMemory(host: LinuxHost, known: RestoreMemory): Promise<void> {
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'EtcdRestoreMemory', ...known }
  const access = await accessOf(host, { owner: 'root', mode: '0600' })
  await host.files.write(pathOf(host), Buffer.from(`${JSON.stringify(document)}\n`), access)
}

export async function forgetMemory(host: LinuxHost): Promise<void> {
  await host.files.remove(pathOf(host))
}

function pathOf({ layout }: Pick<LinuxHost, 'layout'>): string {
  return join(layout.state, 'etcd-restore.json')
}
