import type { PlannedCertificate } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'

/**
 * Returns the plan with the specs of the existing certificates instead of its own. Certificates that do not
 * exist yet keep the plan's spec.
 */
export function keepCertificates(plan: NodePlan, existing: readonly PlannedCertificate[]): NodePlan {
  const known = new Map(existing.map((certificate) => [certificate.certificateFile, certificate]))
  return {
    ...plan,
    components: plan.components.map((component) => ({
      ...component,
      certificates: component.certificates.map(
        (certificate) => known.get(certificate.certificateFile) ?? certificate,
      ),
    })),
  }
}
