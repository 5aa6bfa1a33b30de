/** Formats a duration for people: `850 ms`, `4.2 s`, `3 min 07 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${pad(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} min`
}

/**
 * Parses a duration such as `30s`, `5m`, `1h30m` or `90d` and returns milliseconds. Returns undefined if the
 * text is invalid or the duration is zero.
 */
export function parseDuration(text: string): number | undefined {
  const pattern = /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = pattern.exec(text) ?? []
  const total = Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  return total === 0 ? undefined : total * 1000
}

function pad(value: number): string {
  return String(value).padStart(2, '0')
}

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
