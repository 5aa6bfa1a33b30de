import { readFile, stat } from 'node:fs/promises'
import { createFile, replaceFile } from '../kit/files.ts'
import { type Random, systemRandom } from '../pki/keys.ts'

/** Files that only their owner can read. All writes are atomic. */
export interface PrivateFiles {
  read(path: string): Promise<string>
  /** Returns the permission bits of a regular file; undefined for a pipe, and on Windows. */
  mode(path: string): Promise<number | undefined>
  /** Writes a file and replaces an existing one. */
  replace(path: string, text: string): Promise<void>
  /** Writes a new file. Fails with EEXIST if the file exists. */
  create(path: string, text: string): Promise<void>
}

const ownerOnly = 0o600

export function privateFiles(random: Random = systemRandom): PrivateFiles {
  const suffix = (): string => Buffer.from(random.bytes(8)).toString('hex')
  return {
    read: async (path) => readFile(path, 'utf8'),
    mode: async (path) => {
      const found = await stat(path)
      return process.platform === 'win32' || !found.isFile() ? undefined : found.mode & 0o777
    },
    replace: async (path, text) => replaceFile(path, text, ownerOnly, suffix()),
    create: async (path, text) => createFile(path, text, ownerOnly, suffix()),
  }
}
