import { z } from 'zod'

/** Settings of something, or the word that it shall not be there. */
export function unlessNone<T extends z.ZodType>(settings: T) {
  return z.union([z.literal('none'), settings], 'must be none, or a map of settings')
}
