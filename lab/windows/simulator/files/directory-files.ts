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
import { inherited, type SimulatedFile, type SimulatedFiles } from './simulated-files.ts'

/** What a file system of this machine does not know of a file, by the id of the file. */
export type Marks = Map<string, { access?: string | undefined; heldUntil?: number | undefined }>

/** Where a path of the host is: C:\x is C:/x below the root. */
export function windowsPlace(root: string): (path: string) => string {
  return (path) => join(root, ...path.split(win32.sep))
}

/**
 * Files in a directory of this machine, where others may write as well. What only Windows knows of them is kept apart, by
 * the number that the file system gives a file: it goes with it wherever it is moved.
 */
export function directoryFiles(root: string, marks: Marks): SimulatedFiles {
  const place = windowsPlace(root)
  const at = (path: string): SimulatedFile | undefined => {
    const stats = lstatSync(place(path), { throwIfNoEntry: false })
    return stats === undefined ? undefined : fileOf(path, stats)
  }
  /** As the nearest directory above has it that was given something of its own. */
  const inheritedAt = (path: string): string => {
    const parent = win32.dirname(path)
    if (parent === path) return inherited.open
    const stats = lstatSync(place(parent), { throwIfNoEntry: false })
    const access = stats === undefined ? undefined : marks.get(idOf(stats))?.access
    if (access === undefined || access.includes('D:AI')) return inheritedAt(parent)
    return access.includes(';;;BU)') ? inherited.open : inherited.closed
  }
  const fileOf = (path: string, stats: Stats): SimulatedFile => {
    const id = idOf(stats)
    const mark = (more: { access?: string; heldUntil?: number }): void =>
      void marks.set(id, { ...marks.get(id), ...more })
    return {
      id,
      path,
      directory: stats.isDirectory(),
      get content() {
        return stats.isFile() ? readFileSync(place(path)) : Buffer.alloc(0)
      },
      modified: stats.mtimeMs - epoch,
      get access() {
        const own = marks.get(id)?.access
        return own === undefined || own.endsWith('D:AI') ? inheritedAt(path) : own
      },
      set access(access) {
        mark({ access })
      },
      get heldUntil() {
        return marks.get(id)?.heldUntil ?? 0
      },
      set heldUntil(heldUntil) {
        mark({ heldUntil })
      },
    }
  }
  const below = (path: string): SimulatedFile[] =>
    readdirSync(place(path), { withFileTypes: true }).flatMap((entry) => {
      const child = win32.join(path, entry.name)
      const own = at(child)
      return [...(own === undefined ? [] : [own]), ...(entry.isDirectory() ? below(child) : [])]
    })
  return {
    at,
    put(path, content) {
      const former = at(path)
      if (former !== undefined) {
        rmSync(place(path))
        marks.delete(former.id)
      }
      mkdirSync(dirname(place(path)), { recursive: true })
      writeFileSync(place(path), content)
      const made = at(path)
      if (made === undefined) throw new Error(`${path} was taken away at once`)
      // The number of one that is gone may be given again.
      marks.delete(made.id)
      return made
    },
    move: ({ path }, to) => renameSync(place(path), place(to)),
    remove({ path, id, directory }) {
      rmSync(place(path), { recursive: directory })
      marks.delete(id)
    },
    all: () =>
      readdirSync(root)
        .filter((name) => /^[A-Za-z]:$/.test(name))
        .flatMap((drive) => below(`${drive}${win32.sep}`)),
  }
}

/** A number that was given again is told apart by when its file was made. */
function idOf({ ino, birthtimeMs }: Stats): string {
  return `${ino}-${Math.round(birthtimeMs)}`
}
