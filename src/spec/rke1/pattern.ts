import type { Path } from '../document.ts'

/** A place in a file with holes: `[]` is any item of a list, `*` any key of a map, as in `nodes[].labels.*`. */
export type Pattern = readonly string[]

export function patternOf(text: string): Pattern {
  return text.replaceAll('[]', '.[]').split('.')
}

export function isHole(segment: string): boolean {
  return segment === '[]' || segment === '*'
}

export function fits(segment: string, part: string | number): boolean {
  if (typeof part === 'number') return segment === '[]'
  return segment === '*' || segment === part
}

/** What stands in a path where its pattern has holes. */
export function captures(pattern: Pattern, path: Path): Path {
  return path.filter((_, index) => isHole(pattern[index] ?? ''))
}

/** A pattern with its holes filled, in order. */
export function filled(pattern: Pattern, holes: Path): Path {
  const left = [...holes]
  return pattern.map((segment) => (isHole(segment) ? (left.shift() ?? segment) : segment))
}
