/** What stands where a secret was. */
export const removed = '[removed]'

/** Takes secrets out of text that others have written: of programs, of files, of the API. */
export interface SecretMask {
  /** Of a text as a whole. */
  text(text: string): string
  /** Of what JSON can say: it stays JSON. What has the name of a secret goes, whatever it is. */
  data(value: unknown): unknown
  /** For lines that come one after the other from one source: a key may go over many of them. */
  lines(): (line: string) => string
}

/** Shorter ones are found by what is around them: taken out everywhere, they would take words with them. */
const shortest = 6
/** The longest key that anybody has is shorter: whoever never ends one hides no more than so many lines. */
const longestKey = 200

const keyBegin = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/
const keyEnd = /-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/
const wholeKey = new RegExp(`${keyBegin.source}.*?${keyEnd.source}`, 'gs')

/** A line of a key whose beginning was cut off. Digests are written with fewer characters. */
const bareLine = /^(?![0-9a-f]+$)[\w+/-]{40,}={0,2}$/
const bareRest = /^[\w+/-]+={0,2}$/

/** The kinds of names that have a secret behind them; a name of a file or of an object is none. */
const names = [
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
/** In quotes, in quotes within quotes, or without any. */
const value = String.raw`(?:"(?:[^"\\]|\\.)*"?|\\"(?:[^"\\]|\\[^"])*(?:\\"?)?|'[^']*'?|[^\s"',;&{}\[\]]+)`
const notNamed = String.raw`(?![\w-]*(?:file|path|name|ref|dir)\b)[\w-]*`
const secretName = new RegExp(`(?:${names})${notNamed}$`, 'i')
const place = '/(?:etc|var|run|opt|usr|root|home)/'
const harmless = String.raw`(?!\\?["']?(?:${place}|(?:true|false|null)\b))`
const isPlace = new RegExp(`^${place}`)

const rules: readonly (readonly [RegExp, string])[] = [
  [wholeKey, removed],
  // The same in base64, as kubeconfigs have it; certificates may be seen.
  [/LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR)[\w+/=-]*/g, removed],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, removed],
  [
    /(authorization\\?["']?\s*[:=]\s*\\?["']?)(?:(?:bearer|basic|digest|negotiate)\s+)?[^\s"',}\\]+/gi,
    `$1${removed}`,
  ],
  [/\b(bearer\s+)(?:[\w.~+/=-]{16,}|(?=\S*[\d._~+/=])[\w.~+/=-]{8,})/gi, `$1${removed}`],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'@:]*:[^\s"'<>]*@/gi, `$1${removed}@`],
  [
    new RegExp(String.raw`((?:${names})${notNamed}\\?["']?\s*[:=]\s*)${harmless}${value}`, 'gi'),
    `$1${removed}`,
  ],
  // Of registries: a name and a password in one.
  [/(\\?["']auth\\?["']\s*:\s*)\\?["'][^"'\\]+\\?["']/g, `$1${removed}`],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, removed],
  // Tokens by which machines join clusters.
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, removed],
]

/** `known` are secrets themselves: wherever they stand, they go. */
export function secretMask(known: Iterable<string> = []): SecretMask {
  const exact = exactly(known)
  const within = (text: string): string =>
    rules.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), exact(text))
  const lines = (): ((line: string) => string) => linewise(within)
  const text = (whole: string): string => whole.split('\n').map(lines()).join('\n')
  return { lines, text, data: (given) => maskedData(given, text) }
}

function maskedData(given: unknown, text: (whole: string) => string): unknown {
  if (typeof given === 'string') return text(given)
  if (Array.isArray(given)) return given.map((one) => maskedData(one, text))
  if (typeof given !== 'object' || given === null) return given
  const entries = Object.entries(given).map(([name, own]): [string, unknown] => {
    const isSecret = typeof own === 'string' && secretName.test(name) && !isPlace.test(own)
    return [text(name), isSecret ? removed : maskedData(own, text)]
  })
  return Object.fromEntries(entries)
}

/** The longest first: one may be the beginning of another. */
function exactly(known: Iterable<string>): (text: string) => string {
  const all = [...new Set(known)].filter(({ length }) => length >= shortest)
  if (all.length === 0) return (text) => text
  const sorted = all.toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(sorted.map(literally).join('|'), 'g')
  return (text) => text.replace(pattern, removed)
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

function linewise(within: (text: string) => string): (line: string) => string {
  /** How many more lines may belong to a key that was begun. */
  let left = 0
  let isBare = false
  const outside = (line: string): string => {
    const bare = line.trim()
    isBare = bareLine.test(bare) || (isBare && bareRest.test(bare))
    if (isBare) return removed
    const masked = within(line)
    const begin = masked.search(keyBegin)
    if (begin === -1) return masked
    left = longestKey
    return `${masked.slice(0, begin)}${removed}`
  }
  return (line) => {
    if (left === 0) return outside(line)
    const end = keyEnd.exec(line)
    left = end === null ? left - 1 : 0
    return end === null ? removed : removed + outside(line.slice(end.index + end[0].length))
  }
}
