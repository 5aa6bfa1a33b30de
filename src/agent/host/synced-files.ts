import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { type Access, unfinished } from './files.ts'
import { basename, dirname, join } from './host-path.ts'

const { O_RDONLY, O_NOFOLLOW } = constants

export async function opened<T>(
  path: string,
  flags: number,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

/** By the open file and not by its name, which may lead elsewhere a moment later. */
export async function give(file: FileHandle, { uid, gid, mode }: Access): Promise<void> {
  await file.chown(uid, gid)
  // After the owner: a change of owner takes bits away.
  await file.chmod(mode)
}

/** As a whole or not at all. */
export async function put(
  path: string,
  access: Access,
  fill: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const temporary = temporaryFor(path)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await give(file, access)
      await fill(file)
      await file.sync()
    } finally {
      await file.close()
    }
    await publish(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}

export async function append(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'a', mode)
  try {
    const { size } = await file.stat()
    await file.writeFile(text)
    await file.sync()
    if (size === 0) await sync(dirname(path))
  } finally {
    await file.close()
  }
}

export async function publish(temporary: string, path: string): Promise<void> {
  await rename(temporary, path)
  await sync(dirname(path))
}

export function temporaryFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(8).toString('hex')}${unfinished}`)
}

/** A new name is only safe once its directory is. */
export async function sync(path: string): Promise<void> {
  await opened(path, O_RDONLY, async (file) => file.sync())
}

export async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await syncTree(child)
    else if (entry.isFile()) await opened(child, O_RDONLY | O_NOFOLLOW, async (file) => file.sync())
  }
  await sync(path)
}
