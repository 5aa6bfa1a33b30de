/** The servers that may be tried. What was learned adds to those that were configured, and never takes one away. */
export function members(configured: readonly string[], learned: readonly string[]): readonly string[] {
  return [...new Set([...configured, ...learned])]
}

export function sameMembers(some: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify([...new Set(some)].toSorted()) === JSON.stringify([...new Set(others)].toSorted())
}
