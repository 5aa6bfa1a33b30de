/** Text that replaces each secret. */
export const maskedValue = '[removed]'

export const keyBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
export const keyEnd = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/

/** Names of keys whose value is a secret. */
const secretNames = new RegExp(
  'passw(?:or)?d|passphrase|pwd|secret|token|credentials?|(?:api|access|private|client)[-_]?key|' +
    'key-data|cookie|dockerconfigjson|dockercfg',
  'gi',
)
const secretName = new RegExp(secretNames.source, 'i')
/**
 * Matches every secret name and some other words. This test runs first, because it is faster than the exact
 * test and most words do not match.
 */
const secretHint = new RegExp(`${secretNames.source}|_KEY`, 'i')
/** Ends of names that hold a file name or object name, such as `token-file`. */
const referenceNames = /(?:file|path|name|ref|dir)(?!\w)/gi
const environmentKey = /^(?!.*PUBLIC_KEY$)[A-Z][A-Z0-9_]*_KEY$/

const systemPathPrefix = '/(?:etc|var|run|opt|usr|root|home)/'
export const startsWithSystemPath = new RegExp(`^${systemPathPrefix}`)

/** A value in quotes, in escaped quotes, or without quotes, unless it is a system path or a constant. */
const secretValue = new RegExp(
  String.raw`(?!\\?["']?(?:${systemPathPrefix}|(?:true|false|null)\b))` +
    String.raw`(?:"(?:[^"\\]|\\.)*"?|\\"(?:[^"\\]|\\[^"])*(?:\\"?)?|'[^']*'?|[^\s"',;&{}\[\]]+)`,
  'y',
)

/** True if a value under this name is a secret. The last word of the name decides. */
export function isSecretName(name: string): boolean {
  return isSecretWord(/(?<![\w-])[\w-]+$/.exec(name)?.[0] ?? '')
}

/**
 * True unless the last secret part of the word is followed by a word such as `file` or `name`. The value is
 * then only a reference to a secret.
 */
function isSecretWord(word: string): boolean {
  if (!secretHint.test(word)) return false
  if (environmentKey.test(word)) return true
  const reference = findLast(word, referenceNames)
  if (reference === undefined) return secretName.test(word)
  const secret = findLast(word, secretNames)
  return secret !== undefined && reference.start < secret.end
}

function findLast(
  text: string,
  pattern: RegExp,
): { readonly start: number; readonly end: number } | undefined {
  pattern.lastIndex = 0
  let last
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) last = found
  return last === undefined ? undefined : { start: last.index, end: last.index + last[0].length }
}

/**
 * Rules that mask a text, applied in this order. Each rule must take linear time, because an attacker who can
 * write log lines or events chooses the text. So no pattern may start to match inside a run of characters
 * that the pattern repeats.
 */
export const maskRules: readonly ((text: string) => string)[] = [
  maskWholeKeys,
  // Base64 of a PEM block, as in kubeconfigs. Certificates are public and are not masked.
  replace(/LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR)[\w+/=-]*/g, maskedValue),
  // Base64 of registry credentials (`{"auths":`), with the usual kinds of white space.
  replace(
    /(?:eyJhdXRocyI6|eyAiYXV0aHMi|ewogICJhdXRocyI6|ewoJImF1dGhzIj|ewogICAgImF1dGhzIj)[\w+/=-]*/g,
    maskedValue,
  ),
  (text) => text.replaceAll(/(?<![\w-])[\w-]+\.[\w.-]+/g, maskWebToken),
  replace(
    /(authorization\\?["']?\s*[:=]\s*\\?["']?)(?:(?:bearer|basic|digest|negotiate)\s+)?[^\s"',}\\]+/gi,
    `$1${maskedValue}`,
  ),
  replace(/\b(bearer\s+)(?:[\w.~+/=-]{16,}|(?=\S*[\d._~+/=])[\w.~+/=-]{8,})/gi, `$1${maskedValue}`),
  (text) => text.replaceAll(/[^\s"'<>]+/g, maskUrlPassword),
  replace(/(cookie\\?["']?\s*:\s*)(?:\[[^\]\n]*\]?|\\?"[^"\n]*"?|'[^'\n]*'?|[^"'\n]+)/gi, `$1${maskedValue}`),
  (text) => maskValues(text, /(?<![\w-])([\w-]+)\\?["']?\s*[:=]\s*/g),
  // Flags with a separate value: `--password VALUE`, also as a list in JSON.
  (text) => maskValues(text, /(?<![\w-])--?([a-z][\w-]*)(?:\s+|\\?["'],\s*)(?!\\?["']?-)/gi),
  // Registry credentials (`auth`): user name and password in one value.
  replace(/(\\?["']auth\\?["']\s*:\s*)\\?["'][^"'\\]+(?:\\?["'])?/g, `$1${maskedValue}`),
  replace(/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, maskedValue),
  // Tokens of GitHub, GitLab, Slack and Vault.
  replace(
    /(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|hv[brs]\.[\w-]{16,})/g,
    maskedValue,
  ),
  // Kubernetes bootstrap tokens.
  replace(/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, maskedValue),
]

function replace(pattern: RegExp, replacement: string): (text: string) => string {
  return (text) => text.replace(pattern, replacement)
}

function maskWholeKeys(text: string): string {
  let [masked, rest] = ['', text]
  for (;;) {
    const begin = rest.search(keyBegin)
    const end = begin === -1 ? null : keyEnd.exec(rest.slice(begin))
    if (end === null) return masked + rest
    masked += rest.slice(0, begin) + maskedValue
    rest = rest.slice(begin + end.index + end[0].length)
  }
}

/** Masks JSON web tokens in words that are joined by dots. */
function maskWebToken(words: string): string {
  const parts = words.split('.')
  const masked: string[] = []
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? ''
    const begin = (parts[index + 1] ?? '').length < 8 ? -1 : part.search(/\beyJ[\w-]{8}/)
    masked.push(begin === -1 ? part : part.slice(0, begin) + maskedValue)
    if (begin !== -1) index += 2
  }
  return masked.join('.')
}

/** Masks user and password of a URL in a text without white space. */
function maskUrlPassword(words: string): string {
  const at = words.lastIndexOf('@')
  const user = at === -1 ? null : /:\/\/[^/?#@:]*:/.exec(words)
  if (user === null || user.index > at) return words
  return `${words.slice(0, user.index)}://${maskedValue}${words.slice(at)}`
}

/** Masks the value after each match of `names` whose first group is a secret name. */
function maskValues(text: string, names: RegExp): string {
  if (!secretHint.test(text)) return text
  let [masked, from] = ['', 0]
  for (let found = names.exec(text); found !== null; found = names.exec(text)) {
    if (!isSecretWord(found[1] ?? '')) continue
    secretValue.lastIndex = names.lastIndex
    if (!secretValue.test(text)) continue
    masked += text.slice(from, names.lastIndex) + maskedValue
    from = secretValue.lastIndex
    names.lastIndex = from
  }
  return masked + text.slice(from)
}
