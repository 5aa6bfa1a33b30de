import { PassThrough } from 'node:stream'
import type { Argv } from '../../../kit/command.ts'
import type { Remote } from '../../../ssh/remote.ts'

/** For tests: a host that has these lines in its journal, whatever it is asked for. */
export function scriptedJournal(
  host: string,
  lines: readonly (string | object)[],
  asked: { push(argv: Argv): unknown } = [],
): Remote {
  return {
    host,
    exec: async () => Promise.reject(new Error('nothing is run on it')),
    upload: async () => Promise.reject(new Error('nothing is sent to it')),
    dial: async () => Promise.reject(new Error('nothing is reached through it')),
    async open(argv) {
      asked.push(argv)
      const stdout = new PassThrough()
      const told = argv.includes('--reverse') ? lines.toReversed() : lines
      for (const line of told) stdout.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
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
