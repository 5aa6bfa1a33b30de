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
import { dirname, join } from '../host-path.ts'
import {
  buildTemporaryPath,
  hashOpenFile,
  toFileKind,
  type ToLocalPath,
  toPlainFacts,
  undefinedIfMissing,
} from '../local-files.ts'
import { adminOnlySddl } from '../windows-operations/files.ts'
import type { WindowsOperations } from '../windows-operations/table.ts'

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
  const setAccess = async (path: string, { mode, sddl }: FileAccess): Promise<void> => {
    const facts = await stat(path)
    if (facts === undefined) throw new Error(`there is no ${path}`)
    const isAsDesired = sddl === undefined ? facts.mode === mode : facts.sddl === sddl
    const kind = facts.kind === 'directory' ? 'directory' : 'file'
    if (!isAsDesired) await operations.grant({ path, sddl: sddl ?? toSddl(mode, kind) })
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
      if ((access.mode & 0o007) === 0) await setAccess(temporary, { ...access, mode: 0o600 })
      await fill(toLocalPath(temporary))
      await syncFile(toLocalPath(temporary))
      await rename(toLocalPath(temporary), toLocalPath(path))
    } finally {
      await rm(toLocalPath(temporary), { force: true })
    }
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
    async makeDirectory(path, access) {
      const parents: string[] = []
      for (
        let at = dirname(path);
        (await undefinedIfMissing(lstat(toLocalPath(at)))) === undefined;
        at = dirname(at)
      )
        parents.unshift(at)
      for (const parent of parents) await mkdir(toLocalPath(parent))
      await mkdir(toLocalPath(path)).catch((error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error
      })
      await setAccess(path, access)
      return parents
    },
    setAccess,
    async list(path) {
      const entries = await undefinedIfMissing(readdir(toLocalPath(path), { withFileTypes: true }))
      return entries?.map((entry) => ({ name: entry.name, kind: toFileKind(entry) }))
    },
    readLink: async (path) => undefinedIfMissing(readlink(toLocalPath(path)), 'EINVAL', 'UNKNOWN'),
    async makeLink(path, to) {
      await rm(toLocalPath(path), { force: true })
      await symlink(toLocalPath(to), toLocalPath(path), 'junction')
    },
    rename: async (from, to) => rename(toLocalPath(from), toLocalPath(to)),
    async remove(path) {
      const found = await undefinedIfMissing(lstat(toLocalPath(path)))
      if (found === undefined) return false
      await (found.isDirectory() ? rmdir(toLocalPath(path)) : rm(toLocalPath(path)))
      return true
    },
    removeTree: async (path) => rm(toLocalPath(path), { recursive: true, force: true }),
    syncTree: async (path) => syncTree(toLocalPath, path),
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

/** Access list for access that is inherited from the parent directory. */
const inheritedAccess = 'O:SYG:SYD:AI'

interface AccessEntry {
  readonly inherited: boolean
  readonly account: string
}

/** Accounts that may access every file: SYSTEM and administrators. */
const trustedAccounts: ReadonlySet<string> = new Set(['SY', 'BA'])

/**
 * Converts an access list to the file mode of a plan. If an entry gives access to accounts other than SYSTEM
 * and administrators, the mode is world-writable; inherited entries do not count. Otherwise a protected list
 * gives a private mode, and any other list a mode that others can read.
 */
export function toFileMode(sddl: string, isProgram: boolean): number {
  const [, flags = '', list = ''] = /D:([A-Z]*)((?:\([^)]*\))*)/.exec(sddl) ?? []
  const entries = [...list.matchAll(/\(([^)]*)\)/g)].map(([, text = '']) => parseEntry(text))
  const granted = entries.filter(({ inherited, account }) => !inherited && !trustedAccounts.has(account))
  if (granted.length > 0) return isProgram ? 0o777 : 0o666
  if (flags.includes('P')) return isProgram ? 0o700 : 0o600
  return isProgram ? 0o755 : 0o644
}

/** Converts a file mode to an access list in SDDL. */
export function toSddl(mode: number, kind: 'file' | 'directory'): string {
  return (mode & 0o007) === 0 ? adminOnlySddl[kind] : inheritedAccess
}

function parseEntry(text: string): AccessEntry {
  const [, flags = '', , , , who = ''] = text.split(';')
  return { inherited: flags.includes('ID'), account: who }
}
