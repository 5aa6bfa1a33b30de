/** Formats a number with separators of thousands, for a page of evidence. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en')
}

export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`
}
