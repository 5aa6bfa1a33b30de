import { z } from 'zod'
import { parseDuration } from '../kit/duration.ts'

/**
 * Minimum lifetime of a certificate. Renewal starts when a third of it is left. Components check for new
 * certificates every five minutes, so less time would not be enough.
 */
const minLifetimeMs = 20 * 60_000
/** Maximum lifetime. It is also the longest that is signed without an operator. */
const maxLifetimeMs = 365 * 86_400_000

const lifetime = z
  .string('must be a length of time such as 90d')
  .refine((text) => {
    const milliseconds = parseDuration(text)
    return milliseconds !== undefined && milliseconds >= minLifetimeMs && milliseconds <= maxLifetimeMs
  }, 'must be a length of time such as 90d or 12h, from 20m to 365d')
  .transform((text) => parseDuration(text) ?? maxLifetimeMs)

export const certificatesSchema = z
  .strictObject({
    lifetime: lifetime.prefault('365d').meta({
      description:
        'How long each is good for, from 20m to 365d. Hosts renew it when a third of that is left.',
    }),
  })
  .meta({ id: 'Certificates', description: 'Certificates of hosts.' })
