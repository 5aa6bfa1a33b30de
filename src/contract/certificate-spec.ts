import { z } from 'zod'

const part = z
  .string()
  .min(1, 'must not be empty')
  .max(320, 'must be shorter')
  .regex(/^[\u0020-\u007E]+$/, 'must be plain ASCII')

export const subject = z.strictObject({ commonName: part, organizations: z.array(part).readonly() })

export const alternativeNames = z.strictObject({
  dns: z.array(z.hostname('must be a DNS name')).readonly(),
  ip: z.array(z.union([z.ipv4(), z.ipv6()], 'must be an IP address')).readonly(),
})

export const usage = z.enum(['server', 'client'])
export type Usage = z.infer<typeof usage>

/** What a certificate shall say. It comes from our own plan; a request can only ask for that or less. */
export const wish = z
  .strictObject({
    subject,
    names: alternativeNames,
    usages: z.array(usage).min(1, 'must name a usage').readonly(),
    /** Milliseconds. */
    lifetime: z.number().min(60_000, 'must be at least a minute'),
  })
  .refine(({ usages, names }) => !usages.includes('server') || names.dns.length + names.ip.length > 0, {
    path: ['names'],
    error: 'must name the server',
  })
export type Wish = z.infer<typeof wish>
