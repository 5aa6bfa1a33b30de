/** A word as a POSIX shell takes it, whatever is in it. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
