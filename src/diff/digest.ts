import { hash } from 'node:crypto'

/** Returns the SHA-256 digest of JSON content. The order of object keys does not matter. */
export function computeDigest(content: unknown): string {
  return hash('sha256', JSON.stringify(sortKeys(content)))
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, child]) => [key, sortKeys(child)]))
}
