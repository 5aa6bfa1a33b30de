import { readFile, writeFile } from 'node:fs/promises'
import { runCommandLine } from './cli/run.ts'

const [, called = 'hyperkube', ...words] = process.argv

process.exitCode = await runCommandLine(called, words, {
  stdout: process.stdout,
  stderr: process.stderr,
  readFile: async (path) => readFile(path, 'utf8'),
  writeNewFile: async (path, text, mode) => writeFile(path, text, { mode, flag: 'wx' }),
})
