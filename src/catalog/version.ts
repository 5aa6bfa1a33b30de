/** The numbers of a version: 1.37.1, or 1.37 for all of a minor. */
type Numbers = readonly [major: number, minor: number, patch: number]

export function numbersOf(version: string): Numbers {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return [major, minor, patch]
}

/** Below zero when `a` is older than `b`, above when it is newer. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)]
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}
