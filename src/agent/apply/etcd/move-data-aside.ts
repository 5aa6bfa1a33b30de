import { dirname, join } from 'node:path'
import { etcdDataDirectory } from '../../../contract/etcd-restore.ts'
import type { LinuxHost } from '../../host/host.ts'

/** Number of moved data directories that are kept. */
const maxMoved = 2
const root = dirname(etcdDataDirectory)

/**
 * Renames the data directory of an etcd member instead of deleting it. Returns false if the directory does
 * not exist.
 */
export async function moveDataAside({ files, clock }: LinuxHost, prefix: string): Promise<boolean> {
  if ((await files.stat(etcdDataDirectory)) === undefined) return false
  await files.rename(
    etcdDataDirectory,
    join(root, `${prefix}${clock.now().toISOString().replaceAll(':', '-')}`),
  )
  return true
}

/** Deletes all but the newest moved data directories. */
export async function pruneMovedData({ files }: LinuxHost, prefix: string): Promise<void> {
  const names = ((await files.list(root)) ?? []).map(({ name }) => name)
  const moved = names.filter((name) => name.startsWith(prefix)).toSorted()
  for (const name of moved.slice(0, -maxMoved)) await files.removeTree(join(root, name))
}
