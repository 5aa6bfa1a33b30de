import { execFileSync, spawnSync } from 'node:child_process'
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

/** Prints the packages that a command loads, one per line, when the process exits. */
const packageReporter = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const packages = new Set()
registerHooks({
  load(url, context, next) {
    const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]
    if (name !== undefined) packages.add(name)
    return next(url, context)
  },
})
process.on('exit', () => process.stderr.write('loaded: ' + [...packages].sort().join(' ')))
`)}`

test.each([
  { args: ['--help'], expected: 'loaded: commander' },
  { args: ['agent-call', '--help'], expected: 'loaded: commander' },
  { args: ['apiserver-proxy', '--help'], expected: 'loaded: commander zod' },
])('$args loads only the packages that it needs', ({ args, expected }) => {
  const main = join(import.meta.dirname, 'main.ts')
  const { stderr } = spawnSync(process.execPath, ['--import', packageReporter, main, ...args], {
    encoding: 'utf8',
  })
  expect(stderr).toBe(expected)
})
