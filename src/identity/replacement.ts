import { z } from 'zod'

/**
 * How far the replacement of a key has come. `trust`: the next one is known to all beside the one in use. `switch`: the
 * next one is in use, and the former one still trusted. `distrust`: the former one is trusted no more, and only
 * remembered until it is sure that nothing of it is left. Without any of it nothing is being replaced.
 */
export function replacement<Next extends z.ZodType, Former extends z.ZodType>(next: Next, former: Former) {
  return z
    .discriminatedUnion('phase', [
      z.strictObject({ phase: z.literal('trust'), next }),
      z.strictObject({
        phase: z.literal('switch'),
        former,
        /** Since when nobody has used the former one. */
        since: z.iso.datetime().optional(),
      }),
      z.strictObject({ phase: z.literal('distrust'), former }),
    ])
    .optional()
}

export const phases = ['trust', 'switch', 'distrust'] as const
export type Phase = (typeof phases)[number]
