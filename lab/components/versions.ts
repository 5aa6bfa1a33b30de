/** Returns the minor of a version that starts with v, for example 1.37 for v1.37.1. */
export function toMinor(version: string): string {
  return version.slice(1).split('.').slice(0, 2).join('.')
}

/** Negative if `a` is older than `b`, positive if it is newer. */
export function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
