import type { Put } from './rule.ts'

/** A cluster.yml before it is checked: maps, lists and scalars, ready to be written as YAML. */
export type PlainCluster = Readonly<Record<string, unknown>>

type Tree = Map<string | number, unknown>

/** Joins values into one document. A later value replaces an earlier one, and keeps its place in the order. */
export function assemble(puts: readonly Put[]): PlainCluster {
  const root: Tree = new Map()
  for (const { path, value } of puts) {
    const last = path.at(-1)
    if (last !== undefined) path.slice(0, -1).reduce(branch, root).set(last, value)
  }
  return Object.fromEntries(entries(root))
}

function branch(tree: Tree, part: string | number): Tree {
  const found = tree.get(part)
  if (found instanceof Map) return found
  const made: Tree = new Map()
  tree.set(part, made)
  return made
}

function entries(tree: Tree): [string | number, unknown][] {
  return [...tree]
    .map(([key, value]): [string | number, unknown] => [key, plain(value)])
    .filter(([, value]) => value !== undefined)
}

/** Lists lose their gaps, and what is empty goes. */
function plain(value: unknown): unknown {
  if (!(value instanceof Map)) return value
  const kept = entries(value)
  if (kept.length === 0) return undefined
  return kept.every(([key]) => typeof key === 'number')
    ? kept.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, item]) => item)
    : Object.fromEntries(kept)
}
