/**
 * Applies a JSON merge patch (RFC 7386): objects are merged, null removes a key, everything else is replaced.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch
  const base = isMap(target) ? target : {}
  const changed = Object.entries(patch).map(([key, value]) => [
    key,
    value === null ? null : applyMergePatch(Object.hasOwn(base, key) ? base[key] : undefined, value),
  ])
  const entries = Object.entries({ ...base, ...Object.fromEntries(changed) })
  return Object.fromEntries(entries.filter(([key]) => !Object.hasOwn(patch, key) || patch[key] !== null))
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
