import { createHmac, createSecretKey } from 'node:crypto'
import { normalizePublicKey } from '../kit/ssh-public-key.ts'

/** One line of a known_hosts file. */
export interface KnownHostsLine {
  readonly use: 'host' | 'ca' | 'revoked'
  /** All names that the line can match, in lower case; undefined if it has patterns or hashed names. */
  readonly names?: readonly string[]
  readonly matches: (name: string) => boolean
  /** Public key without a comment. */
  readonly key: string
}

/** What known_hosts files list for one machine. */
export interface KnownHostKeys {
  readonly keys: readonly string[]
  /** CAs whose host certificates are accepted for the machine. */
  readonly cas: readonly string[]
  /** Keys that must never be accepted. */
  readonly revoked: readonly string[]
}

export const noKnownHostKeys: KnownHostKeys = { keys: [], cas: [], revoked: [] }

const useByMarker: ReadonlyMap<string | undefined, KnownHostsLine['use']> = new Map([
  [undefined, 'host'],
  ['@cert-authority', 'ca'],
  ['@revoked', 'revoked'],
] as const)

/** Parses a known_hosts file. Lines that ssh would skip are skipped. */
export function parseKnownHosts(text: string): readonly KnownHostsLine[] {
  return text.split(/\r?\n/).flatMap(parseLine)
}

function parseLine(line: string): readonly KnownHostsLine[] {
  const { marker, names, key: keyText } = form.exec(line)?.groups ?? {}
  const use = useByMarker.get(marker)
  const key = normalizePublicKey((keyText ?? '').replace(/\s+/, ' '))
  if (use === undefined || names === undefined || key === undefined) return []
  const isPlain = /^[^|*?!]+$/.test(names)
  return [
    {
      use,
      ...(isPlain ? { names: names.toLowerCase().split(',') } : {}),
      matches: createMatcher(names),
      key,
    },
  ]
}

const form = /^\s*(?:(?<marker>@\S+)\s+)?(?<names>[^\s#]\S*)\s+(?<key>\S+\s+\S+)/

/** Finds the keys of a machine. `name` is lower-case, with brackets and port if the port is not 22. */
export function findKnownHost(lines: readonly KnownHostsLine[], name: string): KnownHostKeys {
  const matching = lines.filter(({ matches }) => matches(name))
  const list = (use: KnownHostsLine['use']): readonly string[] => [
    ...new Set(matching.filter((line) => line.use === use).map(({ key }) => key)),
  ]
  const revoked = list('revoked')
  const withoutRevoked = (keys: readonly string[]): readonly string[] =>
    keys.filter((key) => !revoked.includes(key))
  return { keys: withoutRevoked(list('host')), cas: withoutRevoked(list('ca')), revoked }
}

function createMatcher(names: string): KnownHostsLine['matches'] {
  if (names.startsWith('|')) return createHashMatcher(names)
  const patterns = names.split(',').map((text) => ({
    negated: text.startsWith('!'),
    expression: toExpression(text.replace(/^!/, '')),
  }))
  return (name) => {
    const found = patterns.filter(({ expression }) => expression.test(name))
    return found.length > 0 && found.every(({ negated }) => !negated)
  }
}

/** Matches |1|SALT|HASH, the form in which ssh hides names. */
function createHashMatcher(text: string): KnownHostsLine['matches'] {
  const [, salt, hash] = /^\|1\|([^|]+)\|([^|]+)$/.exec(text) ?? []
  if (salt === undefined || hash === undefined) return () => false
  const expected = Buffer.from(hash, 'base64')
  // createHmac is much slower with a Buffer than with a KeyObject. Speed matters, because each hashed line is
  // tested with the name of every host.
  const key = createSecretKey(Buffer.from(salt, 'base64'))
  return (name) => createHmac('sha1', key).update(name).digest().equals(expected)
}

/** Converts a pattern of ssh: * and ? are wildcards, brackets are part of the name. */
function toExpression(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/\*+/g, '.*').replaceAll('?', '.')}$`, 'i')
}
