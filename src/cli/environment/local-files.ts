import { mkdir, readdir, readFile } from 'node:fs/promises'
import { privateFiles } from '../../identity/private-files.ts'
import { createFile, fileExists, hashFile, replaceFile } from '../../kit/files.ts'
import type { LocalFiles } from '../../workspace/context.ts'

/** Creates the access to files of this machine. */
export function createLocalFiles(): LocalFiles {
  return {
    exists: fileExists,
    readFile: async (path) => readFile(path, 'utf8'),
    hashFile,
    listDirectory: async (path) => readdir(path),
    createFile,
    replaceFile,
    privateFiles: privateFiles(),
    makePrivateDirectory: async (path) => void (await mkdir(path, { recursive: true, mode: 0o700 })),
  }
}
