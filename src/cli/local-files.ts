import { mkdir, readdir, readFile } from 'node:fs/promises'
import { privateFiles } from '../identity/private-files.ts'
import { exists } from '../kit/files.ts'
import { createFile, replaceFile } from '../kit/atomic-file.ts'
import type { Files } from './command.ts'

/** The files of this machine. */
export function disk(): Files {
  return {
    exists,
    readFile: async (path) => readFile(path, 'utf8'),
    listDirectory: async (path) => readdir(path),
    createFile,
    replaceFile,
    privateFiles: privateFiles(),
    makePrivateDirectory: async (path) => void (await mkdir(path, { recursive: true, mode: 0o700 })),
  }
}
