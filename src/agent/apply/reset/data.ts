import { join } from '../../host/host-path.ts'
import { hasCode } from '../../../kit/errors.ts'
import type { Host } from '../../host/host.ts'
import type { LinuxLeftoverStep } from './leftover-step.ts'

/** Removes the data of components. A directory that is a mount point or in use is only emptied. */
export const removeComponentData: LinuxLeftoverStep = async (
  host,
  { directories, onlyEmptied, files, removedIfEmpty },
) => {
  const removed: string[] = []
  for (const directory of directories) {
    if (!(await emptyDirectory(host, directory))) continue
    removed.push(directory)
    if (!onlyEmptied.includes(directory)) await removeIfEmpty(host, directory)
  }
  for (const file of files) if (await host.files.remove(file)) removed.push(file)
  for (const directory of removedIfEmpty) await removeIfEmpty(host, directory)
  return removed
}

/** Deletes the content of a directory. Returns false if the directory does not exist. */
async function emptyDirectory({ files }: Host, directory: string): Promise<boolean> {
  const entries = await files.list(directory)
  if (entries === undefined) return false
  for (const { name } of entries) await files.removeTree(join(directory, name))
  return true
}

async function removeIfEmpty({ files }: Host, directory: string): Promise<void> {
  await files.remove(directory).catch((error: unknown) => {
    if (!hasCode(error, 'EBUSY') && !hasCode(error, 'ENOTEMPTY')) throw error
  })
}
