import { hash } from 'node:crypto'

/** Digest of JSON-like content that does not depend on the order of keys. */
export function computeDigest(content: unknown): string {
  return hash('sha256', JSON.stringify(sortKeys(content)))
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, child]) => [key, sortKeys(child)]))
}
