/** A time as a part of a file's name: colons would be none on Windows. 2026-11-16T12-00-00Z */
export function stampOf(time: Date): string {
  return `${time.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
}

/** Undefined when it is none. */
export function timeOf(stamp: string): Date | undefined {
  const [, date, hours, minutes, seconds] = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\dZ)$/.exec(stamp) ?? []
  const time = new Date(`${date}${hours}:${minutes}:${seconds}`)
  return Number.isNaN(time.getTime()) ? undefined : time
}
