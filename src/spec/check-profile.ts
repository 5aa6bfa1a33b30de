import type { Cluster } from './cluster.ts'
import { type Problem, warningProblem } from './problem.ts'
import { auditLimits, selectPodSecurity } from './security.ts'

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
