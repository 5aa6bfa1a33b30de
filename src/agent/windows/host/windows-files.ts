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
import { kindOf, missing, plainFacts } from '../../host/file-facts.ts'
import { hashFrom } from '../../host/file-hash.ts'
import { type Access, type FileFacts, type Files } from '../../host/files.ts'
import { dirname, join } from '../../host/host-path.ts'
import type { Place } from '../../host/local-path.ts'
import { temporaryFor } from '../../host/synced-files.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import { accessFor, modeOf } from './sddl.ts'

/** What only Windows itself can say and do about a file. */
export type AccessOperations = Pick<WindowsOperations['files'], 'access' | 'grant'>

/** Files that Windows would run. */
const programs: ReadonlySet<string> = new Set(['.exe', '.dll', '.cmd', '.bat', '.ps1'])

/**
 * The files of a Windows host. Directories cannot be brought to the disk there: a name is safe once the file system's own
 * journal is, which it is within seconds.
 */
export function windowsFiles(place: Place, operations: AccessOperations): Files {
  const stat = async (path: string): Promise<FileFacts | undefined> => {
    const stats = await missing(lstat(place(path), { bigint: true }))
    if (stats === undefined) return undefined
    const sddl = (await operations.access({ path })) ?? ''
    return factsOf(stats, sddl, stats.isDirectory() || programs.has(extname(path).toLowerCase()))
  }
  const setAccess = async (path: string, { mode, sddl }: Access): Promise<void> => {
    const facts = await stat(path)
    if (facts === undefined) throw new Error(`there is no ${path}`)
    const isAsWished = sddl === undefined ? facts.mode === mode : facts.sddl === sddl
    const kind = facts.kind === 'directory' ? 'directory' : 'file'
    if (!isAsWished) await operations.grant({ path, sddl: sddl ?? accessFor(mode, kind) })
  }
  /** As a whole or not at all, and for nobody else to read from its first byte on. */
  const put = async (path: string, access: Access, fill: (temporary: string) => Promise<void>) => {
    const temporary = temporaryFor(path)
    try {
      await (await open(place(temporary), 'wx')).close()
      if ((access.mode & 0o007) === 0) await setAccess(temporary, { ...access, mode: 0o600 })
      await fill(place(temporary))
      await synced(place(temporary))
      await rename(place(temporary), place(path))
    } finally {
      await rm(place(temporary), { force: true })
    }
  }
  return {
    stat,
    async digest(path) {
      const file = await open(place(path))
      try {
        return (await hashFrom(file)).digest('hex')
      } finally {
        await file.close()
      }
    },
    read: async (path) => missing(readFile(place(path)), 'EISDIR'),
    write: async (path, content, access) =>
      put(path, access, async (temporary) => {
        const file = await open(temporary, 'r+')
        try {
          await file.writeFile(content)
        } finally {
          await file.close()
        }
      }),
    async append(path, text, mode) {
      const file = await open(place(path), 'a')
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
      const file = await open(place(path), 'r+')
      try {
        await file.truncate()
        await file.sync()
      } finally {
        await file.close()
      }
    },
    copyIn: async (from, path, access) => put(path, access, async (temporary) => copyFile(from, temporary)),
    async makeDirectory(path, access) {
      const parents: string[] = []
      for (let at = dirname(path); (await missing(lstat(place(at)))) === undefined; at = dirname(at))
        parents.unshift(at)
      for (const parent of parents) await mkdir(place(parent))
      await mkdir(place(path)).catch((error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error
      })
      await setAccess(path, access)
      return parents
    },
    setAccess,
    async list(path) {
      const entries = await missing(readdir(place(path), { withFileTypes: true }))
      return entries?.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    },
    readLink: async (path) => missing(readlink(place(path)), 'EINVAL', 'UNKNOWN'),
    async makeLink(path, to) {
      await rm(place(path), { force: true })
      await symlink(place(to), place(path), 'junction')
    },
    rename: async (from, to) => rename(place(from), place(to)),
    async remove(path) {
      const found = await missing(lstat(place(path)))
      if (found === undefined) return false
      await (found.isDirectory() ? rmdir(place(path)) : rm(place(path)))
      return true
    },
    removeTree: async (path) => rm(place(path), { recursive: true, force: true }),
    syncTree: async (path) => syncTree(place, path),
  }
}

async function synced(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncTree(place: Place, path: string): Promise<void> {
  for (const entry of await readdir(place(path), { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await syncTree(place, child)
    else if (entry.isFile()) await synced(place(child))
  }
}

function factsOf(stats: BigIntStats, sddl: string, isProgram: boolean): FileFacts {
  return {
    ...plainFacts(stats),
    uid: 0,
    gid: 0,
    mode: modeOf(sddl, isProgram),
    sddl,
  }
}
