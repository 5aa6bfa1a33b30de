/** Numbers of a version such as 1.37.1. The patch number of a minor such as 1.37 is 0. */
type VersionNumbers = readonly [major: number, minor: number, patch: number]

export function parseVersion(version: string): VersionNumbers {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return [major, minor, patch]
}

/** Negative if `a` is older than `b`, positive if it is newer. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)]
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}
