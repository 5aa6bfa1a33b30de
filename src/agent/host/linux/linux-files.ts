import { type BigIntStats, constants } from 'node:fs'
import { lstat, mkdir, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from '../../../kit/errors.ts'
import type { FileAccess, FileFacts, HostFiles } from '../files.ts'
import {
  appendSynced,
  buildTemporaryPath,
  hashOpenFile,
  renameSynced,
  setFileAccess,
  syncPath,
  syncTree,
  toFileKind,
  type ToLocalPath,
  toPlainFacts,
  undefinedIfMissing,
  withOpenFile,
  writeFileAtomically,
} from '../local-files.ts'

const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_DIRECTORY } = constants

/**
 * Creates the file interface of this machine. It never follows a link in the last path component, because
 * users of components can create links in their directories.
 */
export function createLinuxFiles(toLocalPath: ToLocalPath): HostFiles {
  return {
    stat: async (path) => undefinedIfMissing(lstat(toLocalPath(path), { bigint: true }).then(toFileFacts)),
    digest: async (path) =>
      withOpenFile(toLocalPath(path), O_RDONLY | O_NOFOLLOW, async (file) =>
        (await hashOpenFile(file)).digest('hex'),
      ),
    read: async (path) =>
      undefinedIfMissing(
        withOpenFile(toLocalPath(path), O_RDONLY | O_NOFOLLOW, async (file) => file.readFile()),
        'ELOOP',
        'EISDIR',
      ),
    write: async (path, content, access) =>
      writeFileAtomically(toLocalPath(path), access, async (file) => file.writeFile(content)),
    append: async (path, text, mode) => appendSynced(toLocalPath(path), text, mode),
    empty: async (path) =>
      withOpenFile(toLocalPath(path), O_WRONLY | O_NOFOLLOW, async (file) => {
        await file.truncate()
        await file.sync()
      }),
    copyIn: async (from, path, access) =>
      writeFileAtomically(toLocalPath(path), access, async (file) =>
        withOpenFile(from, O_RDONLY, async (source) =>
          file.writeFile(source.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })),
        ),
      ),
    makeDirectory: async (path, access) => makeDirectory(toLocalPath, path, access),
    setAccess: async (path, access) =>
      withOpenFile(toLocalPath(path), O_RDONLY | O_NOFOLLOW, async (file) => {
        await setFileAccess(file, access)
        await file.sync()
      }),
    list: async (path) => {
      const entries = await undefinedIfMissing(readdir(toLocalPath(path), { withFileTypes: true }))
      return entries?.map((entry) => ({ name: entry.name, kind: toFileKind(entry) }))
    },
    readLink: async (path) => undefinedIfMissing(readlink(toLocalPath(path)), 'EINVAL'),
    makeLink: async (path, to) => {
      const temporary = buildTemporaryPath(toLocalPath(path))
      await symlink(to, temporary)
      await renameSynced(temporary, toLocalPath(path))
    },
    rename: async (from, to) => {
      await rename(toLocalPath(from), toLocalPath(to))
      await syncPath(dirname(toLocalPath(to)))
      if (dirname(from) !== dirname(to)) await syncPath(dirname(toLocalPath(from)))
    },
    remove: async (path) => remove(toLocalPath(path)),
    removeTree: async (path) => {
      await rm(toLocalPath(path), { recursive: true, force: true })
      await undefinedIfMissing(syncPath(dirname(toLocalPath(path))))
    },
    syncTree: async (path) => syncTree(toLocalPath(path)),
  }
}

function toFileFacts(stats: BigIntStats): FileFacts {
  return {
    ...toPlainFacts(stats),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    mode: Number(stats.mode) & 0o7777,
  }
}

async function makeDirectory(
  toLocalPath: ToLocalPath,
  path: string,
  access: FileAccess,
): Promise<readonly string[]> {
  const parents: string[] = []
  for (
    let ancestor = dirname(path);
    (await undefinedIfMissing(lstat(toLocalPath(ancestor)))) === undefined;
    ancestor = dirname(ancestor)
  )
    parents.unshift(ancestor)
  for (const parent of parents) {
    await mkdir(toLocalPath(parent), { mode: 0o755 })
    await syncPath(dirname(toLocalPath(parent)))
  }
  await mkdir(toLocalPath(path), { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
  await withOpenFile(toLocalPath(path), O_RDONLY | O_NOFOLLOW | O_DIRECTORY, async (directory) => {
    await setFileAccess(directory, access)
    await directory.sync()
  })
  await syncPath(dirname(toLocalPath(path)))
  return parents
}

async function remove(path: string): Promise<boolean> {
  const found = await undefinedIfMissing(lstat(path))
  if (found === undefined) return false
  await (found.isDirectory() ? rmdir(path) : rm(path))
  await syncPath(dirname(path))
  return true
}
