import type { Files } from '../../../src/agent/host/files.ts'
import { join } from '../../../src/agent/host/host-path.ts'
import { mayGo, mayMove, moved } from './file-handlers.ts'
import { fileAt, type Machine } from './machine.ts'

/** The files of a simulated host for whoever writes them himself: as Windows would have it, with all that is locked. */
export function lockedFiles(machine: Machine, files: Files): Files {
  const below = async (path: string): Promise<string[]> => {
    const entries = await files.list(path)
    const found = (entries ?? []).map(async ({ name }) => below(join(path, name)))
    return entries === undefined ? [path] : [...(await Promise.all(found)).flat()]
  }
  const isLocked = (path: string): boolean => {
    const file = fileAt(machine, path)
    return file !== undefined && !attempt(() => mayGo(machine, file))
  }
  return {
    ...files,
    async write(path, content, access) {
      if (isLocked(path)) throw denied(path)
      await files.write(path, content, access)
    },
    async copyIn(from, path, access) {
      if (isLocked(path)) throw denied(path)
      await files.copyIn(from, path, access)
    },
    async rename(from, to) {
      const file = fileAt(machine, from)
      // Of a directory none may be used below it; a program can be moved by itself.
      const isFree =
        file?.directory === true
          ? !(await below(from)).some(isLocked)
          : file === undefined || attempt(() => mayMove(machine, file))
      if (!isFree || isLocked(to)) throw denied(from)
      await files.rename(from, to)
      if (file !== undefined) moved(machine, file, to)
    },
    async remove(path) {
      if (isLocked(path)) throw denied(path)
      return files.remove(path)
    },
    async removeTree(path) {
      const all = await below(path)
      const locked = all.filter(isLocked)
      if (locked[0] === undefined) {
        await files.removeTree(path)
        return
      }
      for (const one of all) if (!locked.includes(one)) await files.remove(one)
      throw denied(locked[0])
    },
  }
}

function attempt(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

/** As Node says it of what Windows does not allow. */
function denied(path: string): Error {
  return Object.assign(new Error(`operation not permitted, '${path}'`), { code: 'EPERM' })
}
