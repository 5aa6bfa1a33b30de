import { z } from 'zod'

const ending = '.snapshot'

/** What a snapshot may be called, wherever it is kept: nothing that a shell, a path or a URL takes for something else. */
export const snapshotName = z.string().regex(/^[a-z0-9][\w.-]{0,99}\.snapshot$/i)

/** shop-2026-11-15T12-00-00Z.snapshot: colons would be no part of a file's name on Windows. */
export function nameOf(cluster: string, taken: Date): string {
  return `${cluster}-${taken.toISOString().slice(0, 19).replaceAll(':', '-')}Z${ending}`
}

/** What a person calls it, with the ending that it may lack. */
export function fullName(given: string): string {
  return given.endsWith(ending) ? given : given + ending
}

/** When a snapshot was taken that bears the name which it is given by itself; undefined for any other. */
export function takenAt(cluster: string, name: string): Date | undefined {
  if (!name.startsWith(`${cluster}-`)) return undefined
  const [, date, hours, minutes, seconds] =
    /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\dZ)\.snapshot$/.exec(name.slice(cluster.length + 1)) ?? []
  const time = new Date(`${date}${hours}:${minutes}:${seconds}`)
  return Number.isNaN(time.getTime()) ? undefined : time
}
