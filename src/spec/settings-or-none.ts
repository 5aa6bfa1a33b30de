import { z } from 'zod'

/** Settings of an optional part, or `none` to leave the part out. */
export function settingsOrNone<T extends z.ZodType>(settings: T) {
  return z.union([z.literal('none'), settings], 'must be none, or a map of settings')
}
