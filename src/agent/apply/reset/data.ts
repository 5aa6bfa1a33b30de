import { join } from '../../host/host-path.ts'
import { hasCode } from '../../../kit/errors.ts'
import type { Host } from '../../host/host.ts'
import type { Step } from './linux-leftover-step.ts'

/** All that components have written. A directory that is a disk of its own, or in use, stays, empty. */
export const removeData: Step = async (host, { directories, emptied, files, bare }) => {
  const removed: string[] = []
  for (const directory of directories) {
    if (!(await empty(host, directory))) continue
    removed.push(directory)
    if (!emptied.includes(directory)) await removeEmpty(host, directory)
  }
  for (const file of files) if (await host.files.remove(file)) removed.push(file)
  for (const directory of bare) await removeEmpty(host, directory)
  return removed
}

/** False when there is none. */
async function empty({ files }: Host, directory: string): Promise<boolean> {
  const entries = await files.list(directory)
  if (entries === undefined) return false
  for (const { name } of entries) await files.removeTree(join(directory, name))
  return true
}

async function removeEmpty({ files }: Host, directory: string): Promise<void> {
  await files.remove(directory).catch((error: unknown) => {
    if (!hasCode(error, 'EBUSY') && !hasCode(error, 'ENOTEMPTY')) throw error
  })
}
