import { hash } from 'node:crypto'

/** The same for the same content, whatever the order of its keys. */
export function digestOf(content: unknown): string {
  return hash('sha256', JSON.stringify(inOrder(content)))
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, child]) => [key, inOrder(child)]))
}
