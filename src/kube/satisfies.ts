/**
 * True if an object already matches a manifest. Fields that the manifest omits may have any value; lists must
 * have the same length and matching items.
 */
export function satisfies(actual: unknown, desired: unknown): boolean {
  if (desired === undefined) return true
  if (Array.isArray(desired)) {
    return (
      Array.isArray(actual) &&
      actual.length === desired.length &&
      desired.every((item, index) => satisfies(actual[index], item))
    )
  }
  if (typeof desired !== 'object' || desired === null) return actual === desired
  if (typeof actual !== 'object' || actual === null) return false
  const actualFields = new Map<string, unknown>(Object.entries(actual))
  return Object.entries(desired).every(([key, value]) => satisfies(actualFields.get(key), value))
}
