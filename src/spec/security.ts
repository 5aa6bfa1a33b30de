import { z } from 'zod'

export const podSecurityLevels = ['privileged', 'baseline', 'restricted'] as const
export type PodSecurityLevel = (typeof podSecurityLevels)[number]

/** Limits of the audit log that the CIS benchmark requires (1.2.17 to 1.2.19). They are also the defaults. */
export const auditLimits = { maxAge: 30, maxBackups: 10, maxSize: 100 } as const

export const securitySchema = z
  .strictObject({
    profile: z.enum(['default', 'cis']).default('default').meta({
      description:
        'cis: also the settings of the CIS benchmark that some workloads cannot use. [CIS benchmark](../how-to/cis.md) lists them.',
    }),
    podSecurity: z.enum(podSecurityLevels).optional().meta({
      description:
        'Default Pod Security level of namespaces without a label. Default: baseline, or restricted with the profile cis.',
    }),
    audit: z
      .strictObject({
        policy: z.string().optional().meta({
          description: 'Audit policy file, relative to cluster.yml. Default: the policy of hyperkube.',
        }),
        maxAge: z.int().min(1).default(auditLimits.maxAge).meta({ description: 'Days.' }),
        maxBackups: z.int().min(1).default(auditLimits.maxBackups),
        maxSize: z.int().min(1).default(auditLimits.maxSize).meta({ description: 'Megabytes.' }),
      })
      .prefault({}),
  })
  .meta({ id: 'Security', description: 'Security settings. Other security features are always on.' })
export type SecuritySettings = z.infer<typeof securitySchema>

/** Returns the Pod Security level of namespaces without a label. */
export function selectPodSecurity({
  profile,
  podSecurity,
}: Pick<SecuritySettings, 'profile' | 'podSecurity'>): PodSecurityLevel {
  return podSecurity ?? (profile === 'cis' ? 'restricted' : 'baseline')
}
