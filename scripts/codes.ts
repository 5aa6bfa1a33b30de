import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Written like codes, but none: capabilities, cipher suites, priorities, words and variables of other programs. */
const others =
  /^(?:CAP|TLS|XDG)_|^SSH_AUTH_SOCK$|_PROXY$|_PRIORITY_CLASS$|^NODE_NAME$|^FLANNEL_SUBNET$|^NET_BIND_SERVICE$|^DAC_OVERRIDE$|_MOUNT_PATH$|^DEFAULT_PATH_/

const patterns = [
  // Whatever looks like a code is one, wherever it stands: better a word too many in `others` than a code missed.
  /['"`]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)['"`]/g,
  /\bnew HyperkubeError\(\s*['"`]([A-Z][A-Z0-9_]*)['"`]/g,
  // Printed as it is: USAGE: there is no such command.
  /['"`]([A-Z][A-Z0-9_]+): /g,
]

/** The stable codes in a module's text. */
export function codesIn(text: string): string[] {
  const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, code = '']) => code))
  return [...new Set(found)].filter((code) => !others.test(code))
}

/** Every code that the program can print, and the files in which it stands. */
export function codesOfSource(): ReadonlyMap<string, readonly string[]> {
  const root = join(import.meta.dirname, '..')
  const files = globSync('src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts') && !file.startsWith('src/error-codes/'),
  )
  const places = files.flatMap((file) =>
    codesIn(readFileSync(join(root, file), 'utf8')).map((code) => ({ code, file })),
  )
  return new Map(
    Object.entries(Object.groupBy(places, ({ code }) => code)).map(([code, some = []]) => [
      code,
      some.map(({ file }) => file),
    ]),
  )
}
