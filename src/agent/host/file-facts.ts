import type { BigIntStats, Dirent } from 'node:fs'
import { hasCode } from '../../kit/errors.ts'
import type { FileAccess, FileFacts } from './files.ts'

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
