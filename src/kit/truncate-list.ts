/** The first of many, and how many more there are: nobody reads more than a few. */
export function firstFew(names: readonly string[], most: number): string {
  const more = names.length - most
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
