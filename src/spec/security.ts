import { z } from 'zod'
import type { Cluster } from './cluster.ts'
import { type Problem, warningProblem } from './problem.ts'

const podSecurityLevels = ['privileged', 'baseline', 'restricted'] as const
export type PodSecurityLevel = (typeof podSecurityLevels)[number]

/** Limits of the audit log that the CIS benchmark requires (1.2.17 to 1.2.19). They are also the defaults. */
const auditLimits = { maxAge: 30, maxBackups: 10, maxSize: 100 } as const

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

/** Finds settings that contradict the profile cis. */
export function checkProfile({ spec }: Cluster): Problem[] {
  const { profile, audit, podSecurity } = spec.security
  if (profile !== 'cis') return []
  const path = ['spec', 'security']
  const levels =
    selectPodSecurity(spec.security) === 'restricted'
      ? []
      : [
          warningProblem(
            'SPEC_PROFILE_WEAKENED',
            [...path, 'podSecurity'],
            `${podSecurity} is weaker than the level restricted of the profile cis`,
            'remove it, and label the namespaces that need another level',
          ),
        ]
  const limits = (['maxAge', 'maxBackups', 'maxSize'] as const)
    .filter((key) => audit[key] < auditLimits[key])
    .map((key) =>
      warningProblem(
        'SPEC_PROFILE_WEAKENED',
        [...path, 'audit', key],
        `${audit[key]} is less than the ${auditLimits[key]} that the profile cis requires`,
        'remove it',
      ),
    )
  return [...levels, ...limits]
}
