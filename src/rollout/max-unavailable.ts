/**
 * Computes how many workers may be unavailable at once. The result is at least one, because otherwise no
 * worker could be changed.
 */
export function resolveMaxUnavailable(setting: number | string, workers: number): number {
  const percent = typeof setting === 'string' ? /^(\d+)%$/.exec(setting)?.[1] : undefined
  const count = percent === undefined ? Number(setting) : Math.floor((workers * Number(percent)) / 100)
  return count >= 1 ? Math.floor(count) : 1
}
