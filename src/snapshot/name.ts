import { z } from 'zod'
import { formatFileTimestamp, parseFileTimestamp } from '../kit/file-timestamp.ts'

const extension = '.snapshot'

/** Valid snapshot names. They contain no character with a special meaning in a shell, a path or a URL. */
export const snapshotName = z.string().regex(/^[a-z0-9][\w.-]{0,99}\.snapshot$/i)

/** Builds a name such as shop-2026-11-15T12-00-00Z.snapshot. */
export function buildSnapshotName(cluster: string, taken: Date): string {
  return `${cluster}-${formatFileTimestamp(taken)}${extension}`
}

/** Adds the extension if it is missing. */
export function addSnapshotExtension(given: string): string {
  return given.endsWith(extension) ? given : given + extension
}

/** Reads the time from a name that buildSnapshotName has built. Returns undefined for other names. */
export function parseSnapshotTime(cluster: string, name: string): Date | undefined {
  const prefix = `${cluster}-`
  if (!name.startsWith(prefix) || !name.endsWith(extension)) return undefined
  return parseFileTimestamp(name.slice(prefix.length, -extension.length))
}
