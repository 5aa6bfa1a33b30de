import { readFile } from 'node:fs/promises'
import { isSea } from 'node:sea'
import { httpFetcher } from './catalog/http-fetcher.ts'
import { retrying } from './catalog/retrying.ts'
import { runCommandLine } from './cli/run.ts'
import { describe } from './kit/errors.ts'
import { createFile, replaceFile } from './kit/whole-file.ts'

// As one executable the program is called by its own name or a link's; otherwise Node is, with us as a file.
const called = isSea() ? process.argv0 : (process.argv[1] ?? 'hyperkube')

// Once: who interrupts a second time does not want to wait for us.
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())

runCommandLine(called, process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  readFile: async (path) => readFile(path, 'utf8'),
  createFile,
  replaceFile,
  fetcher: retrying(httpFetcher()),
  signal: interruption.signal,
}).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`UNEXPECTED: ${describe(error)}\n`)
    process.exitCode = 1
  },
)
