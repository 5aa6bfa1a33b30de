import { readFile, writeFile } from 'node:fs/promises'
import { isSea } from 'node:sea'
import { runCommandLine } from './cli/run.ts'
import { describe } from './kit/errors.ts'

// As one executable the program is called by its own name or a link's; otherwise Node is, with us as a file.
const called = isSea() ? process.argv0 : (process.argv[1] ?? 'hyperkube')

runCommandLine(called, process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  readFile: async (path) => readFile(path, 'utf8'),
  writeNewFile: async (path, text, mode) => writeFile(path, text, { mode, flag: 'wx' }),
}).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`UNEXPECTED: ${describe(error)}\n`)
    process.exitCode = 1
  },
)
