import type { BigIntStats, Dirent } from 'node:fs'
import { hasCode } from '../../kit/errors.ts'
import type { Access, FileFacts } from './files.ts'

/** What every file system says of a file, but for who may do what with it. */
export function plainFacts(stats: BigIntStats): Omit<FileFacts, keyof Access> {
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    inode: String(stats.ino),
    modified: String(stats.mtimeNs),
    changed: String(stats.ctimeNs),
  }
}

export function kindOf(entry: BigIntStats | Dirent): FileFacts['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/** Nothing instead of an error when there is nothing. */
export async function missing<T>(asked: Promise<T>, ...also: readonly string[]): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', ...also].some((code) => hasCode(error, code))) return undefined
    throw error
  })
}
