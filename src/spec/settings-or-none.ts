import { z } from 'zod'

/** Builds the schema of an optional part of the cluster: its settings, or `none` to omit it. */
export function settingsOrNone<T extends z.ZodType>(settings: T) {
  return z.union([z.literal('none'), settings], 'must be none, or a map of settings')
}
