import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Strings that look like codes but are not: capabilities, cipher suites, priority classes, and names and
 * variables of other programs.
 */
const notCodes =
  /^(?:CAP|HYPERKUBE|METALLB|TLS|XDG)_|^SSH_AUTH_SOCK$|^(?:NO|HTTPS?|ALL)_PROXY$|_PRIORITY_CLASS$|^NODE_NAME$|^FLANNEL_(?:SUBNET|IPV6|IPV6_SUBNET)$|^WATCHDOG_USEC$|^NET_(?:BIND_SERVICE|RAW)$|^DAC_OVERRIDE$|_MOUNT_PATH$|^DEFAULT_PATH_|^SSL_CERT_DIR$|^ERR_PROXY_TUNNEL$|^UNABLE_TO_|^SELF_SIGNED_CERT_|^DEPTH_ZERO_/

const patterns = [
  // Anything that looks like a code counts as one: an extra entry in `notCodes` is better than a missed code.
  /['"`]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)['"`]/g,
  /\bnew HyperkubeError\(\s*['"`]([A-Z][A-Z0-9_]*)['"`]/g,
  // Codes at the start of a message, for example `USAGE: there is no such command`.
  /['"`]([A-Z][A-Z0-9_]+): /g,
]

/** Finds the stable codes in the text of a module. */
export function findCodes(text: string): string[] {
  const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, code = '']) => code))
  return [...new Set(found)].filter((code) => !notCodes.test(code))
}

/** Finds every code that the program can print, with the files that contain it. */
export function findSourceCodes(): ReadonlyMap<string, readonly string[]> {
  const root = join(import.meta.dirname, '..')
  const files = globSync('src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts') && !file.startsWith('src/error-codes/'),
  )
  const uses = files.flatMap((file) =>
    findCodes(readFileSync(join(root, file), 'utf8')).map((code) => ({ code, file })),
  )
  return new Map(
    Object.entries(Object.groupBy(uses, ({ code }) => code)).map(([code, found = []]) => [
      code,
      found.map(({ file }) => file),
    ]),
  )
}
