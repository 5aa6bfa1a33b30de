import { z } from 'zod'

const part = z
  .string()
  .min(1, 'must not be empty')
  .max(320, 'must be at most 320 characters')
  .regex(/^[\u0020-\u007E]+$/, 'must be plain ASCII')

export const certificateSubject = z.strictObject({
  commonName: part,
  organizations: z.array(part).readonly(),
})

export const subjectAltNames = z.strictObject({
  dns: z.array(z.hostname('must be a DNS name')).readonly(),
  ip: z.array(z.union([z.ipv4(), z.ipv6()], 'must be an IP address')).readonly(),
})

export const keyUsage = z.enum(['server', 'client'])
export type KeyUsage = z.infer<typeof keyUsage>

/**
 * Desired content of a certificate, taken from the plan. A certificate request that asks for more than this
 * is refused.
 */
export const certificateSpec = z
  .strictObject({
    subject: certificateSubject,
    names: subjectAltNames,
    usages: z.array(keyUsage).min(1, 'must contain a usage').readonly(),
    /** Milliseconds. */
    lifetime: z.number().min(60_000, 'must be at least a minute'),
  })
  .refine(({ usages, names }) => !usages.includes('server') || names.dns.length + names.ip.length > 0, {
    path: ['names'],
    error: 'must contain a server name',
  })
export type CertificateSpec = z.infer<typeof certificateSpec>
