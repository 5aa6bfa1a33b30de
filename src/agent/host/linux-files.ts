import { constants, type BigIntStats } from 'node:fs'
import { lstat, mkdir, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from '../../kit/errors.ts'
import { kindOf, missing, plainFacts } from './file-facts.ts'
import { hashFrom } from './file-hash.ts'
import type { Access, FileFacts, Files } from './files.ts'
import type { Place } from './local-path.ts'
import { append, give, opened, publish, put, sync, syncTree, temporaryFor } from './synced-files.ts'

const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_DIRECTORY } = constants

/** The files of this machine. Directories of a component are its user's, so nothing here follows a link that lies in one. */
export function linuxFiles(place: Place): Files {
  return {
    stat: async (path) => missing(lstat(place(path), { bigint: true }).then(factsOf)),
    digest: async (path) =>
      opened(place(path), O_RDONLY | O_NOFOLLOW, async (file) => (await hashFrom(file)).digest('hex')),
    read: async (path) =>
      missing(
        opened(place(path), O_RDONLY | O_NOFOLLOW, async (file) => file.readFile()),
        'ELOOP',
        'EISDIR',
      ),
    write: async (path, content, access) => put(place(path), access, async (file) => file.writeFile(content)),
    append: async (path, text, mode) => append(place(path), text, mode),
    empty: async (path) =>
      opened(place(path), O_WRONLY | O_NOFOLLOW, async (file) => {
        await file.truncate()
        await file.sync()
      }),
    copyIn: async (from, path, access) =>
      put(place(path), access, async (file) =>
        opened(from, O_RDONLY, async (source) =>
          file.writeFile(source.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })),
        ),
      ),
    makeDirectory: async (path, access) => makeDirectory(place, path, access),
    setAccess: async (path, access) =>
      opened(place(path), O_RDONLY | O_NOFOLLOW, async (file) => {
        await give(file, access)
        await file.sync()
      }),
    list: async (path) => {
      const entries = await missing(readdir(place(path), { withFileTypes: true }))
      return entries?.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    },
    readLink: async (path) => missing(readlink(place(path)), 'EINVAL'),
    makeLink: async (path, to) => {
      const temporary = temporaryFor(place(path))
      await symlink(to, temporary)
      await publish(temporary, place(path))
    },
    rename: async (from, to) => {
      await rename(place(from), place(to))
      await sync(dirname(place(to)))
      if (dirname(from) !== dirname(to)) await sync(dirname(place(from)))
    },
    remove: async (path) => remove(place(path)),
    removeTree: async (path) => {
      await rm(place(path), { recursive: true, force: true })
      await missing(sync(dirname(place(path))))
    },
    syncTree: async (path) => syncTree(place(path)),
  }
}

function factsOf(stats: BigIntStats): FileFacts {
  return {
    ...plainFacts(stats),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    mode: Number(stats.mode) & 0o7777,
  }
}

async function makeDirectory(place: Place, path: string, access: Access): Promise<readonly string[]> {
  const parents: string[] = []
  for (let at = dirname(path); (await missing(lstat(place(at)))) === undefined; at = dirname(at))
    parents.unshift(at)
  for (const parent of parents) {
    await mkdir(place(parent), { mode: 0o755 })
    await sync(dirname(place(parent)))
  }
  await mkdir(place(path), { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
  await opened(place(path), O_RDONLY | O_NOFOLLOW | O_DIRECTORY, async (directory) => {
    await give(directory, access)
    await directory.sync()
  })
  await sync(dirname(place(path)))
  return parents
}

async function remove(path: string): Promise<boolean> {
  const found = await missing(lstat(path))
  if (found === undefined) return false
  await (found.isDirectory() ? rmdir(path) : rm(path))
  await sync(dirname(path))
  return true
}
