import type { Assignment } from './rule.ts'

/** A cluster.yml before validation: maps, lists and scalars, ready to be written as YAML. */
export type PlainCluster = Readonly<Record<string, unknown>>

type Tree = Map<string | number, unknown>

/**
 * Joins assignments into one document. A later value replaces an earlier one but keeps its position in the
 * order.
 */
export function assemble(assignments: readonly Assignment[]): PlainCluster {
  const root: Tree = new Map()
  for (const { path, value } of assignments) {
    const last = path.at(-1)
    if (last !== undefined) path.slice(0, -1).reduce(branch, root).set(last, value)
  }
  return Object.fromEntries(entries(root))
}

function branch(tree: Tree, part: string | number): Tree {
  const found = tree.get(part)
  if (found instanceof Map) return found
  const created: Tree = new Map()
  tree.set(part, created)
  return created
}

function entries(tree: Tree): [string | number, unknown][] {
  return [...tree]
    .map(([key, value]): [string | number, unknown] => [key, plain(value)])
    .filter(([, value]) => value !== undefined)
}

/** Removes gaps from lists, and drops empty maps and lists. */
function plain(value: unknown): unknown {
  if (!(value instanceof Map)) return value
  const items = entries(value)
  if (items.length === 0) return undefined
  return items.every(([key]) => typeof key === 'number')
    ? items.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, item]) => item)
    : Object.fromEntries(items)
}
