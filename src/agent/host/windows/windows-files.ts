import type { BigIntStats } from 'node:fs'
import {
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
} from 'node:fs/promises'
import { extname } from 'node:path'
import { hasCode } from '../../../kit/errors.ts'
import type { FileAccess, FileFacts, HostFiles } from '../files.ts'
import { join } from '../host-path.ts'
import {
  buildTemporaryPath,
  hashOpenFile,
  toFileKind,
  type ToLocalPath,
  toPlainFacts,
  undefinedIfMissing,
} from '../local-files.ts'
import type { WindowsOperations } from '../windows-operations/table.ts'
import { toFileMode, toSddl } from './access-list.ts'
import { claimDirectory, listDirectoryChain, refuseForeignContent } from './claim-directory.ts'

/** Operations on access lists, which only Windows itself can do. */
export type AccessOperations = Pick<WindowsOperations['files'], 'access' | 'grant'>

/** Extensions of files that Windows executes. */
const programExtensions: ReadonlySet<string> = new Set(['.exe', '.dll', '.cmd', '.bat', '.ps1'])

/**
 * Files of a Windows host. Windows cannot flush directories, so a new file name is durable only after the
 * file system has written its journal, some seconds later.
 */
export function windowsFiles(toLocalPath: ToLocalPath, operations: AccessOperations): HostFiles {
  const stat = async (path: string): Promise<FileFacts | undefined> => {
    const stats = await undefinedIfMissing(lstat(toLocalPath(path), { bigint: true }))
    if (stats === undefined) return undefined
    const sddl = (await operations.access({ path })) ?? ''
    return toFileFacts(stats, sddl, stats.isDirectory() || programExtensions.has(extname(path).toLowerCase()))
  }
  /** Returns true if the access list had to be changed. */
  const setAccess = async (path: string, { mode, sddl }: FileAccess): Promise<boolean> => {
    const facts = await stat(path)
    if (facts === undefined) throw new Error(`there is no ${path}`)
    const isAsDesired = sddl === undefined ? facts.mode === mode : facts.sddl === sddl
    const kind = facts.kind === 'directory' ? 'directory' : 'file'
    if (!isAsDesired) await operations.grant({ path, sddl: sddl ?? toSddl(mode, kind) })
    return !isAsDesired
  }
  /**
   * Writes a file atomically. The access list is set before any content is written, so a private file is
   * never readable by others.
   */
  const writeAtomically = async (
    path: string,
    access: FileAccess,
    fill: (temporary: string) => Promise<void>,
  ) => {
    const temporary = buildTemporaryPath(path)
    try {
      await (await open(toLocalPath(temporary), 'wx')).close()
      // `setAccess` also replaces the owner, because Windows may give a new file to the administrator who
      // runs hyperkube.
      await setAccess(temporary, { ...access, mode: (access.mode & 0o007) === 0 ? 0o600 : 0o644 })
      await fill(toLocalPath(temporary))
      await syncFile(toLocalPath(temporary))
      await rename(toLocalPath(temporary), toLocalPath(path))
    } finally {
      await rm(toLocalPath(temporary), { force: true })
    }
  }
  const list = async (path: string): ReturnType<HostFiles['list']> => {
    const entries = await undefinedIfMissing(readdir(toLocalPath(path), { withFileTypes: true }))
    return entries?.map((entry) => ({ name: entry.name, kind: toFileKind(entry) }))
  }
  const remove = async (path: string): Promise<boolean> => {
    const found = await undefinedIfMissing(lstat(toLocalPath(path)))
    if (found === undefined) return false
    await (found.isDirectory() ? rmdir(toLocalPath(path)) : rm(toLocalPath(path)))
    return true
  }
  /**
   * Creates a directory. Its existing parents must have trusted owners, because the owner of a parent can
   * replace the directory. For the same reason, new parents of a private directory are private too.
   */
  const makeDirectory = async (path: string, access: FileAccess): Promise<readonly string[]> => {
    const made: string[] = []
    for (const directory of listDirectoryChain(path)) {
      await claimDirectory({ stat, list, remove }, directory)
      const isNew = await makeMissing(toLocalPath(directory))
      if (isNew) made.push(directory)
      const isPrivate = (access.mode & 0o007) === 0
      const mustClose = directory === path || (isNew && isPrivate)
      if (mustClose && (await setAccess(directory, access)) && isPrivate)
        await refuseForeignContent({ stat, list, remove }, directory)
    }
    return made.filter((one) => one !== path)
  }
  return {
    stat,
    async digest(path) {
      const file = await open(toLocalPath(path))
      try {
        return (await hashOpenFile(file)).digest('hex')
      } finally {
        await file.close()
      }
    },
    read: async (path) => undefinedIfMissing(readFile(toLocalPath(path)), 'EISDIR'),
    write: async (path, content, access) =>
      writeAtomically(path, access, async (temporary) => {
        const file = await open(temporary, 'r+')
        try {
          await file.writeFile(content)
        } finally {
          await file.close()
        }
      }),
    async append(path, text, mode) {
      const file = await open(toLocalPath(path), 'a')
      try {
        const { size } = await file.stat()
        if (size === 0 && (mode & 0o007) === 0) await setAccess(path, { uid: 0, gid: 0, mode })
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    async empty(path) {
      const file = await open(toLocalPath(path), 'r+')
      try {
        await file.truncate()
        await file.sync()
      } finally {
        await file.close()
      }
    },
    copyIn: async (from, path, access) =>
      writeAtomically(path, access, async (temporary) => copyFile(from, temporary)),
    makeDirectory,
    setAccess: async (path, access) => void (await setAccess(path, access)),
    list,
    readLink: async (path) => undefinedIfMissing(readlink(toLocalPath(path)), 'EINVAL', 'UNKNOWN'),
    async makeLink(path, to) {
      await rm(toLocalPath(path), { force: true })
      await symlink(toLocalPath(to), toLocalPath(path), 'junction')
    },
    rename: async (from, to) => rename(toLocalPath(from), toLocalPath(to)),
    remove,
    removeTree: async (path) => rm(toLocalPath(path), { recursive: true, force: true }),
    syncTree: async (path) => syncTree(toLocalPath, path),
  }
}

/** Creates a directory. Returns false if it exists. */
async function makeMissing(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncTree(toLocalPath: ToLocalPath, path: string): Promise<void> {
  for (const entry of await readdir(toLocalPath(path), { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await syncTree(toLocalPath, child)
    else if (entry.isFile()) await syncFile(toLocalPath(child))
  }
}

function toFileFacts(stats: BigIntStats, sddl: string, isProgram: boolean): FileFacts {
  return {
    ...toPlainFacts(stats),
    uid: 0,
    gid: 0,
    mode: toFileMode(sddl, isProgram),
    sddl,
  }
}
