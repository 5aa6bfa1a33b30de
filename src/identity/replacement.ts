import { z } from 'zod'

/**
 * Progress of a key replacement. `trust`: the next key is trusted, the current one still in use. `switch`:
 * the next key is in use, the previous one still trusted. `distrust`: the previous key is only recorded.
 * Undefined: no replacement.
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
        /** Time since when the previous key is no longer used. */
        since: z.iso.datetime().optional(),
      }),
      z.strictObject({ phase: z.literal('distrust'), previous }),
    ])
    .optional()
}

export const replacementPhases = ['trust', 'switch', 'distrust'] as const
export type ReplacementPhase = (typeof replacementPhases)[number]
