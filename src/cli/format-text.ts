/** 1 file, 2 files. */
export function count(amount: number, noun: string): string {
  return `${amount} ${amount === 1 ? noun : plural(noun)}`
}

function plural(noun: string): string {
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
}

const worthNaming = 6

/** Names as a person says them; of many only the first, because nobody reads a thousand. */
export function listed(names: readonly string[]): string {
  if (names.length > worthNaming) {
    const shown = names.slice(0, worthNaming - 1)
    return `${shown.join(', ')} and ${(names.length - shown.length).toLocaleString('en-US')} more`
  }
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** Those with the same text together, in the order in which each text first came. */
export function alike<T>(
  all: readonly T[],
  text: (one: T) => string,
): (readonly [text: string, ones: T[]])[] {
  return [...Map.groupBy(all, text)]
}
