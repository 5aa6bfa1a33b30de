import { PassThrough } from 'node:stream'
import type { Argv } from '../../../kit/command.ts'
import type { Remote } from '../../../ssh/remote.ts'

/** For tests: a host that returns the given journal lines for every request. */
export function scriptedJournal(
  host: string,
  lines: readonly (string | object)[],
  requests: { push(argv: Argv): unknown } = [],
): Remote {
  return {
    host,
    exec: async () => Promise.reject(new Error('exec is not supported')),
    upload: async () => Promise.reject(new Error('upload is not supported')),
    dial: async () => Promise.reject(new Error('dial is not supported')),
    async open(argv) {
      requests.push(argv)
      const stdout = new PassThrough()
      const output = argv.includes('--reverse') ? lines.toReversed() : lines
      for (const line of output) stdout.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
      stdout.end()
      return {
        stdin: new PassThrough(),
        stdout,
        ended: Promise.resolve({ code: 0, stderr: '' }),
        kill: () => undefined,
      }
    },
    close: async () => undefined,
  }
}
