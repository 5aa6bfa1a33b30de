/** Quotes a word for a POSIX shell. */
export function quoteShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
