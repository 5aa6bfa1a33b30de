/** Whether an object is already what a manifest says. What the manifest leaves out may be anything; lists it says whole. */
export function satisfies(actual: unknown, wished: unknown): boolean {
  if (wished === undefined) return true
  if (Array.isArray(wished)) {
    return (
      Array.isArray(actual) &&
      actual.length === wished.length &&
      wished.every((item, index) => satisfies(actual[index], item))
    )
  }
  if (typeof wished !== 'object' || wished === null) return actual === wished
  if (typeof actual !== 'object' || actual === null) return false
  const have = new Map<string, unknown>(Object.entries(actual))
  return Object.entries(wished).every(([key, value]) => satisfies(have.get(key), value))
}
