import { readFile } from 'node:fs/promises'
import { createFile, replaceFile } from '../kit/atomic-file.ts'
import { type Random, systemRandom } from '../pki/random.ts'

/** Files for their owner's eyes only. A write happens as a whole or not at all. */
export interface PrivateFiles {
  read(path: string): Promise<string>
  /** Puts a file in the place of one that may be there. */
  replace(path: string, text: string): Promise<void>
  /** Fails with EEXIST when there is one. */
  create(path: string, text: string): Promise<void>
}

const ownerOnly = 0o600

export function privateFiles(random: Random = systemRandom): PrivateFiles {
  const suffix = (): string => Buffer.from(random.bytes(8)).toString('hex')
  return {
    read: async (path) => readFile(path, 'utf8'),
    replace: async (path, text) => replaceFile(path, text, ownerOnly, suffix()),
    create: async (path, text) => createFile(path, text, ownerOnly, suffix()),
  }
}
