/** Text that replaces each secret. */
export const maskedValue = '[removed]'

/** Removes secrets from text that hyperkube did not write: program output, files, API responses. */
export interface SecretMask {
  /** Masks the secrets in a whole text. */
  text(text: string): string
  /**
   * Masks the secrets in a JSON value and keeps its structure. A string under a key such as `password` is
   * masked unless it is a system path.
   */
  data(value: unknown): unknown
  /**
   * Returns a function that masks consecutive lines of one source. It keeps state between lines, because a
   * private key spans many lines.
   */
  lines(): (line: string) => string
}

/**
 * Minimum length of known secrets that are masked everywhere. Shorter secrets could be part of normal words,
 * so they are masked only in known contexts such as `password:`.
 */
const minSecretLength = 6
/**
 * Maximum number of lines that are masked as one private key. Real keys are shorter; the limit matters for a
 * key without an end line.
 */
const maxKeyLines = 200

const keyBegin = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/
const keyEnd = /-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/
const wholeKey = new RegExp(`${keyBegin.source}.*?${keyEnd.source}`, 'gs')

/** A line from the middle of a private key whose beginning is missing. Hex digests do not match. */
const base64KeyLine = /^(?![0-9a-f]+$)[\w+/-]{40,}={0,2}$/
const base64KeyRest = /^[\w+/-]+={0,2}$/

/**
 * Names of keys whose value is a secret. Keys that hold a file name or object name are excluded by
 * `notNamed`.
 */
const secretNames = [
  'passw(?:or)?d',
  'passphrase',
  'pwd',
  'secret',
  'token',
  'credentials?',
  'api[-_]?key',
  'access[-_]?key',
  'private[-_]?key',
  'client[-_]?key',
  'key-data',
].join('|')
/** A value in quotes, in escaped quotes, or without quotes. */
const value = String.raw`(?:"(?:[^"\\]|\\.)*"?|\\"(?:[^"\\]|\\[^"])*(?:\\"?)?|'[^']*'?|[^\s"',;&{}\[\]]+)`
const notNamed = String.raw`(?![\w-]*(?:file|path|name|ref|dir)\b)[\w-]*`
const secretName = new RegExp(`(?:${secretNames})${notNamed}$`, 'i')
const systemPathPrefix = '/(?:etc|var|run|opt|usr|root|home)/'
const harmless = String.raw`(?!\\?["']?(?:${systemPathPrefix}|(?:true|false|null)\b))`
const startsWithSystemPath = new RegExp(`^${systemPathPrefix}`)

const rules: readonly (readonly [RegExp, string])[] = [
  [wholeKey, maskedValue],
  // Base64 of a PEM block, as in kubeconfigs. Certificates are public and are not masked.
  [/LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR)[\w+/=-]*/g, maskedValue],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, maskedValue],
  [
    /(authorization\\?["']?\s*[:=]\s*\\?["']?)(?:(?:bearer|basic|digest|negotiate)\s+)?[^\s"',}\\]+/gi,
    `$1${maskedValue}`,
  ],
  [/\b(bearer\s+)(?:[\w.~+/=-]{16,}|(?=\S*[\d._~+/=])[\w.~+/=-]{8,})/gi, `$1${maskedValue}`],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'@:]*:[^\s"'<>]*@/gi, `$1${maskedValue}@`],
  [
    new RegExp(String.raw`((?:${secretNames})${notNamed}\\?["']?\s*[:=]\s*)${harmless}${value}`, 'gi'),
    `$1${maskedValue}`,
  ],
  // Registry credentials (`auth`): user name and password in one value.
  [/(\\?["']auth\\?["']\s*:\s*)\\?["'][^"'\\]+\\?["']/g, `$1${maskedValue}`],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, maskedValue],
  // Kubernetes bootstrap tokens.
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, maskedValue],
]

/** Creates a mask. The strings in `known` are masked wherever they occur. */
export function createSecretMask(known: Iterable<string> = []): SecretMask {
  const exact = createExactMasker(known)
  const maskText = (text: string): string =>
    rules.reduce((masked, [pattern, replacement]) => masked.replace(pattern, replacement), exact(text))
  const lines = (): ((line: string) => string) => createLineMasker(maskText)
  const text = (whole: string): string => whole.split('\n').map(lines()).join('\n')
  return { lines, text, data: (given) => maskData(given, text) }
}

function maskData(given: unknown, text: (whole: string) => string): unknown {
  if (typeof given === 'string') return text(given)
  if (Array.isArray(given)) return given.map((one) => maskData(one, text))
  if (typeof given !== 'object' || given === null) return given
  const entries = Object.entries(given).map(([name, child]): [string, unknown] => {
    const isSecret = typeof child === 'string' && secretName.test(name) && !startsWithSystemPath.test(child)
    return [text(name), isSecret ? maskedValue : maskData(child, text)]
  })
  return Object.fromEntries(entries)
}

/** Masks known secrets. The longest is matched first, because one secret may be a prefix of another. */
function createExactMasker(known: Iterable<string>): (text: string) => string {
  const all = [...new Set(known)].filter(({ length }) => length >= minSecretLength)
  if (all.length === 0) return (text) => text
  const sorted = all.toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(sorted.map(escapeRegExp).join('|'), 'g')
  return (text) => text.replace(pattern, maskedValue)
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

function createLineMasker(maskText: (text: string) => string): (line: string) => string {
  /** Maximum number of further lines of a private key that has begun; 0 outside of a key. */
  let keyLinesLeft = 0
  let isBare = false
  const maskOutsideKey = (line: string): string => {
    const bare = line.trim()
    isBare = base64KeyLine.test(bare) || (isBare && base64KeyRest.test(bare))
    if (isBare) return maskedValue
    const masked = maskText(line)
    const begin = masked.search(keyBegin)
    if (begin === -1) return masked
    keyLinesLeft = maxKeyLines
    return `${masked.slice(0, begin)}${maskedValue}`
  }
  return (line) => {
    if (keyLinesLeft === 0) return maskOutsideKey(line)
    const end = keyEnd.exec(line)
    keyLinesLeft = end === null ? keyLinesLeft - 1 : 0
    return end === null ? maskedValue : maskedValue + maskOutsideKey(line.slice(end.index + end[0].length))
  }
}
