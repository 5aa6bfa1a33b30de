import { createHash, type Hash, randomBytes } from 'node:crypto'
import { type BigIntStats, constants, type Dirent } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { join as joinLocal } from 'node:path'
import { hasCode } from '../../kit/errors.ts'
import { type FileAccess, type FileFacts, unfinishedSuffix } from './files.ts'
import { basename, dirname, join } from './host-path.ts'

const { O_RDONLY, O_NOFOLLOW } = constants

export async function withOpenFile<T>(
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

/** Sets owner and mode through the open file, because the path may refer to another file a moment later. */
export async function setFileAccess(file: FileHandle, { uid, gid, mode }: FileAccess): Promise<void> {
  await file.chown(uid, gid)
  // The mode is set after the owner, because chown clears mode bits.
  await file.chmod(mode)
}

/** Writes a temporary file and renames it, so that the file at the path is always complete. */
export async function writeFileAtomically(
  path: string,
  access: FileAccess,
  writeContent: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const temporary = buildTemporaryPath(path)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await setFileAccess(file, access)
      await writeContent(file)
      await file.sync()
    } finally {
      await file.close()
    }
    await renameSynced(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}

export async function appendSynced(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'a', mode)
  try {
    const { size } = await file.stat()
    await file.writeFile(text)
    await file.sync()
    if (size === 0) await syncPath(dirname(path))
  } finally {
    await file.close()
  }
}

export async function renameSynced(temporary: string, path: string): Promise<void> {
  await rename(temporary, path)
  await syncPath(dirname(path))
}

export function buildTemporaryPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(8).toString('hex')}${unfinishedSuffix}`)
}

/** Flushes a file or directory to disk. A new file name is durable only after its directory was flushed. */
export async function syncPath(path: string): Promise<void> {
  await withOpenFile(path, O_RDONLY, async (file) => file.sync())
}

export async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await syncTree(child)
    else if (entry.isFile()) await withOpenFile(child, O_RDONLY | O_NOFOLLOW, async (file) => file.sync())
  }
  await syncPath(path)
}

/** Returns the metadata that every file system provides, without owner and permissions. */
export function toPlainFacts(stats: BigIntStats): Omit<FileFacts, keyof FileAccess> {
  return {
    kind: toFileKind(stats),
    size: Number(stats.size),
    inode: String(stats.ino),
    modified: String(stats.mtimeNs),
    changed: String(stats.ctimeNs),
  }
}

export function toFileKind(entry: BigIntStats | Dirent): FileFacts['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/** Returns undefined if the operation failed because the path does not exist or with one of `otherCodes`. */
export async function undefinedIfMissing<T>(
  result: Promise<T>,
  ...otherCodes: readonly string[]
): Promise<T | undefined> {
  return result.catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', ...otherCodes].some((code) => hasCode(error, code))) return undefined
    throw error
  })
}

/** Size of the read buffer for large files, in bytes. */
const bufferSize = 1 << 20
/**
 * Size of the first read in bytes. Most files of a plan are smaller, and a large buffer costs more than the
 * hash.
 */
const firstReadSize = 32 << 10

/**
 * Hashes the first `end` bytes of a file, by default all. One buffer is reused, because a new one per read
 * would produce gigabytes of garbage.
 */
export async function hashOpenFile(file: FileHandle, end = Number.POSITIVE_INFINITY): Promise<Hash> {
  const hash = createHash('sha256')
  let buffer = Buffer.allocUnsafeSlow(firstReadSize)
  for (let offset = 0; offset < end;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - offset), offset)
    if (bytesRead === 0) break
    hash.update(buffer.subarray(0, bytesRead))
    offset += bytesRead
    if (buffer.length < bufferSize && bytesRead === buffer.length) buffer = Buffer.allocUnsafeSlow(bufferSize)
  }
  return hash
}

/**
 * Maps a path of the host to a path on this machine. In tests the result is in a temporary directory.
 * Otherwise it is the same path.
 */
export type ToLocalPath = (path: string) => string

export function createPathMapper(root: string): ToLocalPath {
  return (path) => joinLocal(root, path)
}
