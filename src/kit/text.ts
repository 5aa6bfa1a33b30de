/**
 * Makes untrusted text safe for a terminal, where text from a file or host could otherwise repaint the screen
 * or disguise a word. Control characters (except tabs and newlines), bidirectional controls, line separators
 * and invisible characters become escape codes.
 */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = character.codePointAt(0) ?? 0
    const digits = code.toString(16).padStart(4, '0')
    return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`
  })
}

/**
 * Format characters (Cf) are zero-width, bidirectional and tag characters. The other ranges are controls,
 * line separators, fillers without width and variation selectors.
 */
const unprintable =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these are the very characters to find
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u2028\u2029\u2065\u3164\uFE00-\uFE0F\uFFA0\u{E0000}-\u{E0FFF}\p{Cf}]/gu

/** Joins the first `max` names and appends the number of omitted names. */
export function truncateList(names: readonly string[], max: number): string {
  const omitted = names.length - max
  return `${names.slice(0, max).join(', ')}${omitted > 0 ? ` and ${omitted} more` : ''}`
}

/**
 * Escapes all non-ASCII characters in a JSON text, so that programs that assume another encoding cannot
 * change the text.
 */
export function toAsciiJson(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Quotes a word for a POSIX shell. */
export function quoteShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** Quotes a word for a POSIX shell unless it has no special characters. */
export function quoteShellIfNeeded(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoteShell(word)
}

/**
 * Returns the known word that is most similar to a mistyped word, or undefined if no word is similar enough.
 */
export function suggestWord(word: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3))
  const ranked = known
    .filter((candidate) => Math.abs(candidate.length - word.length) <= limit)
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter((ranking) => ranking.distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
  return ranked[0]?.candidate
}

/**
 * Damerau-Levenshtein distance: the number of insertions, deletions, replacements and swaps of adjacent
 * letters between two words.
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      const options = [
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      ]
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) options.push(at(beforeLast, column - 2) + 1)
      current.push(Math.min(...options))
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}

/**
 * Joins names with commas and "and". If there are more than `max` names, the last names are replaced by their
 * number ("5 more").
 */
export function formatNames(names: readonly string[], max = 3): string {
  const shown = names.length > max ? names.slice(0, max - 1) : names
  const rest = names.length - shown.length
  const parts = rest > 0 ? [...shown, `${rest.toLocaleString('en-US')} more`] : shown
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

/** Joins up to six names, for messages with room for more names than formatNames shows by default. */
export function joinNames(names: readonly string[]): string {
  return formatNames(names, 6)
}

/** Formats a number with its noun: "1 file", "2 files". */
export function formatCount(amount: number, noun: string): string {
  return `${amount} ${amount === 1 ? noun : pluralize(noun)}`
}

function pluralize(noun: string): string {
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
}

/** Groups items with the same text, in the order in which the texts first occur. */
export function groupByText<T>(
  all: readonly T[],
  text: (item: T) => string,
): (readonly [text: string, ones: T[]])[] {
  return [...Map.groupBy(all, text)]
}
