/** Formats a number with separators of thousands, for a page of evidence. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en')
}

export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`
}

/** Formats milliseconds as seconds, without the unit. */
export function formatSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1)
}

export function findMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}
