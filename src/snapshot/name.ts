import { z } from 'zod'
import { stampOf, timeOf } from '../kit/file-timestamp.ts'

const ending = '.snapshot'

/** What a snapshot may be called, wherever it is kept: nothing that a shell, a path or a URL takes for something else. */
export const snapshotName = z.string().regex(/^[a-z0-9][\w.-]{0,99}\.snapshot$/i)

/** shop-2026-11-15T12-00-00Z.snapshot */
export function nameOf(cluster: string, taken: Date): string {
  return `${cluster}-${stampOf(taken)}${ending}`
}

/** What a person calls it, with the ending that it may lack. */
export function fullName(given: string): string {
  return given.endsWith(ending) ? given : given + ending
}

/** When a snapshot was taken that bears the name which it is given by itself; undefined for any other. */
export function takenAt(cluster: string, name: string): Date | undefined {
  const start = `${cluster}-`
  if (!name.startsWith(start) || !name.endsWith(ending)) return undefined
  return timeOf(name.slice(start.length, -ending.length))
}
