import { z } from 'zod'
import { parseDuration } from '../kit/duration.ts'

/**
 * Components check every five minutes for new certificates. A renewal starts when a third of the lifetime is
 * left, and the new certificate must be requested, signed and loaded before the old one expires.
 */
const minLifetimeMs = 20 * 60_000
/** Longest lifetime that is signed without an operator. */
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
