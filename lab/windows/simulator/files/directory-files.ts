import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { dirname, join, win32 } from 'node:path'
import { epoch } from '../instant.ts'
import {
  inheritedSddl,
  type SimulatedFile,
  type SimulatedFiles,
  withInheritedEntries,
} from './simulated-files.ts'

/** File metadata that a local file system does not store (key: file id). */
export type Marks = Map<string, { access?: string | undefined; heldUntil?: number | undefined }>

/** Returns a function that maps host paths to local ones: C:\x becomes C:/x below the root. */
export function createLocalPathMapper(root: string): (path: string) => string {
  return (path) => join(root, ...path.split(win32.sep))
}

/**
 * Stores files in a local directory, where other processes may write too. Windows metadata is stored
 * separately by inode, so it stays with a moved file.
 */
export function directoryFiles(root: string, marks: Marks): SimulatedFiles {
  const toLocalPath = createLocalPathMapper(root)
  const at = (path: string): SimulatedFile | undefined => {
    const stats = lstatSync(toLocalPath(path), { throwIfNoEntry: false })
    return stats === undefined ? undefined : toSimulatedFile(path, stats)
  }
  /** Returns the access list inherited from the nearest parent directory that has its own list. */
  const findInherited = (path: string): string => {
    const parent = win32.dirname(path)
    if (parent === path) return inheritedSddl.open
    const stats = lstatSync(toLocalPath(parent), { throwIfNoEntry: false })
    const access = stats === undefined ? undefined : marks.get(toFileId(stats))?.access
    if (access === undefined || access.includes('D:AI')) return findInherited(parent)
    return access.includes(';;;BU)') ? inheritedSddl.open : inheritedSddl.closed
  }
  const toSimulatedFile = (path: string, stats: Stats): SimulatedFile => {
    const id = toFileId(stats)
    const setMarks = (more: { access?: string; heldUntil?: number }): void =>
      void marks.set(id, { ...marks.get(id), ...more })
    return {
      id,
      path,
      directory: stats.isDirectory(),
      get content() {
        return stats.isFile() ? readFileSync(toLocalPath(path)) : Buffer.alloc(0)
      },
      modified: stats.mtimeMs - epoch,
      get access() {
        const ownAccess = marks.get(id)?.access
        return ownAccess === undefined || ownAccess.endsWith('D:AI')
          ? withInheritedEntries(ownAccess, findInherited(path))
          : ownAccess
      },
      set access(access) {
        setMarks({ access })
      },
      get heldUntil() {
        return marks.get(id)?.heldUntil ?? 0
      },
      set heldUntil(heldUntil) {
        setMarks({ heldUntil })
      },
    }
  }
  const listBelow = (path: string): SimulatedFile[] =>
    readdirSync(toLocalPath(path), { withFileTypes: true }).flatMap((entry) => {
      const child = win32.join(path, entry.name)
      const ownAccess = at(child)
      return [
        ...(ownAccess === undefined ? [] : [ownAccess]),
        ...(entry.isDirectory() ? listBelow(child) : []),
      ]
    })
  return {
    at,
    put(path, content) {
      const previous = at(path)
      if (previous !== undefined) {
        rmSync(toLocalPath(path))
        marks.delete(previous.id)
      }
      mkdirSync(dirname(toLocalPath(path)), { recursive: true })
      writeFileSync(toLocalPath(path), content)
      const made = at(path)
      if (made === undefined) throw new Error(`${path} was taken away at once`)
      // The inode may have belonged to a removed file, so old metadata is deleted.
      marks.delete(made.id)
      return made
    },
    move: ({ path }, to) => renameSync(toLocalPath(path), toLocalPath(to)),
    remove({ path, id, directory }) {
      rmSync(toLocalPath(path), { recursive: directory })
      marks.delete(id)
    },
    all: () =>
      readdirSync(root)
        .filter((name) => /^[A-Za-z]:$/.test(name))
        .flatMap((drive) => listBelow(`${drive}${win32.sep}`)),
  }
}

/** Returns an id for a file. It includes the creation time, because inodes are reused. */
function toFileId({ ino, birthtimeMs }: Stats): string {
  return `${ino}-${Math.round(birthtimeMs)}`
}
