/** Formats a number with its noun: "1 file", "2 files". */
export function formatCount(amount: number, noun: string): string {
  return `${amount} ${amount === 1 ? noun : pluralize(noun)}`
}

function pluralize(noun: string): string {
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
}

const maxNames = 6

/**
 * Joins names with commas and "and". Of long lists only the first names and the number of the others are
 * shown.
 */
export function joinNames(names: readonly string[]): string {
  if (names.length > maxNames) {
    const shown = names.slice(0, maxNames - 1)
    return `${shown.join(', ')} and ${(names.length - shown.length).toLocaleString('en-US')} more`
  }
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** Groups items with the same text, in the order in which the texts first occur. */
export function groupByText<T>(
  all: readonly T[],
  text: (item: T) => string,
): (readonly [text: string, ones: T[]])[] {
  return [...Map.groupBy(all, text)]
}
