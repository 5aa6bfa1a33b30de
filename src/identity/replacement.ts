import { z } from 'zod'

/**
 * Progress of the replacement of a key. `trust`: all hosts trust the next key beside the current one.
 * `switch`: the next key is in use, and the previous one is still trusted. `distrust`: the previous key is no
 * longer trusted, and only recorded until nothing that depends on it is left. Undefined: no replacement is in
 * progress.
 */
export function replacementSchema<Next extends z.ZodType, Previous extends z.ZodType>(
  next: Next,
  previous: Previous,
) {
  return z
    .discriminatedUnion('phase', [
      z.strictObject({ phase: z.literal('trust'), next }),
      z.strictObject({
        phase: z.literal('switch'),
        previous,
        /** Time since when the previous key is unused. */
        since: z.iso.datetime().optional(),
      }),
      z.strictObject({ phase: z.literal('distrust'), previous }),
    ])
    .optional()
}

export const replacementPhases = ['trust', 'switch', 'distrust'] as const
export type ReplacementPhase = (typeof replacementPhases)[number]
