import { z } from 'zod'
import { parseDuration } from '../kit/duration.ts'

/**
 * Components look every five minutes whether their certificates are others, and what is not renewed by a third of its
 * lifetime before its end must be asked for, signed and seen until then.
 */
const shortest = 20 * 60_000
/** Nobody signs for longer without an operator. */
const longest = 365 * 86_400_000

const lifetime = z
  .string('must be a length of time such as 90d')
  .refine((text) => {
    const milliseconds = parseDuration(text)
    return milliseconds !== undefined && milliseconds >= shortest && milliseconds <= longest
  }, 'must be a length of time such as 90d or 12h, from 20m to 365d')
  .transform((text) => parseDuration(text) ?? longest)

export const certificates = z
  .strictObject({
    lifetime: lifetime.prefault('365d').meta({
      description:
        'How long each is good for, from 20m to 365d. Hosts renew it when a third of that is left.',
    }),
  })
  .meta({ id: 'Certificates', description: 'Certificates of hosts.' })
