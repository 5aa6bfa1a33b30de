/**
 * Lists the servers that may be tried. Discovered servers are added to the configured ones and never replace
 * them.
 */
export function mergeMembers(
  configured: readonly string[],
  discovered: readonly string[],
): readonly string[] {
  return [...new Set([...configured, ...discovered])]
}

export function sameMembers(some: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify([...new Set(some)].toSorted()) === JSON.stringify([...new Set(others)].toSorted())
}
