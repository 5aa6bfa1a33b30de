import { dirname, join } from 'node:path'
import { etcdData } from '../../../contract/etcd-restore.ts'
import type { LinuxHost } from '../../host/host.ts'

/** How many times what was there before is kept. */
const kept = 2
const root = dirname(etcdData)

/** Moves what a member of etcd had out of the way. Nothing that etcd has written is thrown away. False when there was nothing. */
export async function setAside({ files, clock }: LinuxHost, prefix: string): Promise<boolean> {
  if ((await files.stat(etcdData)) === undefined) return false
  await files.rename(etcdData, join(root, `${prefix}${clock.now().toISOString().replaceAll(':', '-')}`))
  return true
}

/** But what was set aside long ago. */
export async function tidyAside({ files }: LinuxHost, prefix: string): Promise<void> {
  const names = ((await files.list(root)) ?? []).map(({ name }) => name)
  const former = names.filter((name) => name.startsWith(prefix)).toSorted()
  for (const name of former.slice(0, -kept)) await files.removeTree(join(root, name))
}
