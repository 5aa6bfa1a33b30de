import {
  isSecretName,
  keyBegin,
  keyEnd,
  maskedValue,
  maskRules,
  startsWithSystemPath,
} from './secret-patterns.ts'

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
 * Maximum number of lines that are masked as one private key. Real keys are shorter. Without the limit, a key
 * without an end line would mask the rest of the text.
 */
const maxKeyLines = 200

/**
 * A line from the middle of a private key whose beginning is missing. Such a line has capital letters. Hex
 * digests, names of clusters and most paths have none.
 */
const base64KeyLine = /^(?=.*[A-Z])[\w+/-]{40,}={0,2}$/
const base64KeyRest = /^[\w+/-]+={0,2}$/

/** Creates a mask. The strings in `known` are masked wherever they occur. */
export function createSecretMask(known: Iterable<string> = []): SecretMask {
  const exact = createExactMasker(known)
  const maskText = (text: string): string => maskRules.reduce((masked, rule) => rule(masked), exact(text))
  const lines = (): ((line: string) => string) => createLineMasker(maskText)
  const text = (whole: string): string => whole.split('\n').map(lines()).join('\n')
  return { lines, text, data: (given) => maskData(given, text) }
}

function maskData(given: unknown, text: (whole: string) => string): unknown {
  if (typeof given === 'string') return text(given)
  if (Array.isArray(given)) return given.map((one) => maskData(one, text))
  if (typeof given !== 'object' || given === null) return given
  const entries = Object.entries(given).map(([name, child]): [string, unknown] => {
    return [text(name), isSecretName(name) ? maskValue(child, text) : maskData(child, text)]
  })
  return Object.fromEntries(entries)
}

/** Masks a value under the name of a secret: a text or a list of texts. */
function maskValue(given: unknown, text: (whole: string) => string): unknown {
  if (Array.isArray(given)) return given.map((one) => maskValue(one, text))
  return typeof given === 'string' && !startsWithSystemPath.test(given) ? maskedValue : maskData(given, text)
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
    // Lines shorter than `pwd=x` cannot contain a secret. They are skipped, so that many short lines do not
    // take long.
    if (line.length < 5 && !isBare) return line
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
