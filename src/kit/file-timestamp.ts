/**
 * Formats a time for use in a file name: 2026-11-16T12-00-00Z. Windows does not allow colons in file names.
 */
export function formatFileTimestamp(time: Date): string {
  return `${time.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
}

/** Parses a time from formatFileTimestamp. Returns undefined if the text is not such a timestamp. */
export function parseFileTimestamp(stamp: string): Date | undefined {
  const [, date, hours, minutes, seconds] = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\dZ)$/.exec(stamp) ?? []
  const time = new Date(`${date}${hours}:${minutes}:${seconds}`)
  return Number.isNaN(time.getTime()) ? undefined : time
}
