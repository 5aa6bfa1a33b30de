import type { HostFiles } from '../../../src/agent/host/files.ts'
import { join } from '../../../src/agent/host/host-path.ts'
import { assertDeletable, assertMovable, updateProcessPaths } from './file-handlers.ts'
import { findFile, type Machine } from './machine.ts'

/** Adds the file locks of Windows to the files of a simulated host, for code that accesses files directly. */
export function lockedFiles(machine: Machine, files: HostFiles): HostFiles {
  const listFilesBelow = async (path: string): Promise<string[]> => {
    const entries = await files.list(path)
    const found = (entries ?? []).map(async ({ name }) => listFilesBelow(join(path, name)))
    return entries === undefined ? [path] : [...(await Promise.all(found)).flat()]
  }
  const isLocked = (path: string): boolean => {
    const file = findFile(machine, path)
    return file !== undefined && !succeeds(() => assertDeletable(machine, file))
  }
  return {
    ...files,
    async write(path, content, access) {
      if (isLocked(path)) throw deniedError(path)
      await files.write(path, content, access)
    },
    async copyIn(from, path, access) {
      if (isLocked(path)) throw deniedError(path)
      await files.copyIn(from, path, access)
    },
    async rename(from, to) {
      const file = findFile(machine, from)
      // A directory cannot be moved while a file below it is in use. A running program file can be moved.
      const isFree =
        file?.directory === true
          ? !(await listFilesBelow(from)).some(isLocked)
          : file === undefined || succeeds(() => assertMovable(machine, file))
      if (!isFree || isLocked(to)) throw deniedError(from)
      await files.rename(from, to)
      if (file !== undefined) updateProcessPaths(machine, file, to)
    },
    async remove(path) {
      if (isLocked(path)) throw deniedError(path)
      return files.remove(path)
    },
    async removeTree(path) {
      const all = await listFilesBelow(path)
      const locked = all.filter(isLocked)
      if (locked[0] === undefined) {
        await files.removeTree(path)
        return
      }
      for (const one of all) if (!locked.includes(one)) await files.remove(one)
      throw deniedError(locked[0])
    },
  }
}

function succeeds(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

/** Creates the error that Node throws if Windows denies an operation on a file. */
function deniedError(path: string): Error {
  return Object.assign(new Error(`operation not permitted, '${path}'`), { code: 'EPERM' })
}
