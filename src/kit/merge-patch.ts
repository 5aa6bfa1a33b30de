/** A JSON merge patch (RFC 7386): maps are joined, null removes, everything else is replaced. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch
  const below = isMap(target) ? target : {}
  const changed = Object.entries(patch).map(([key, value]) => [
    key,
    value === null ? null : mergePatch(Object.hasOwn(below, key) ? below[key] : undefined, value),
  ])
  const entries = Object.entries({ ...below, ...Object.fromEntries(changed) })
  return Object.fromEntries(entries.filter(([key]) => !Object.hasOwn(patch, key) || patch[key] !== null))
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
