import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('a reader that closes the pipe early causes no error', () => {
  const main = join(import.meta.dirname, 'main.ts')
  // The subshell prints what the program writes to stderr, and its exit code.
  const script = `{ "$0" "$1" up --help 2>&3; echo "exit $?" >&3; } 3>&2 | head -1 >/dev/null`
  const output = execFileSync('bash', ['-c', `( ${script} ) 2>&1`, process.execPath, main], {
    encoding: 'utf8',
  })
  expect(output).toBe('exit 0\n')
})
