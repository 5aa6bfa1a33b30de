import type { Path } from '../document.ts'

/**
 * A path with wildcards, for example `nodes[].labels.*`. `[]` matches any item of a list, `*` any key of a
 * map.
 */
export type Pattern = readonly string[]

export function parsePattern(text: string): Pattern {
  return text.replaceAll('[]', '.[]').split('.')
}

export function isWildcard(segment: string): boolean {
  return segment === '[]' || segment === '*'
}

export function matchesSegment(segment: string, part: string | number): boolean {
  if (typeof part === 'number') return segment === '[]'
  return segment === '*' || segment === part
}

/** Returns the parts of a path that match the wildcards of the pattern. */
export function captureWildcards(pattern: Pattern, path: Path): Path {
  return path.filter((_, index) => isWildcard(pattern[index] ?? ''))
}

/** Replaces the wildcards of a pattern by the captured parts, in order. */
export function fillWildcards(pattern: Pattern, captures: Path): Path {
  const remaining = [...captures]
  return pattern.map((segment) => (isWildcard(segment) ? (remaining.shift() ?? segment) : segment))
}
