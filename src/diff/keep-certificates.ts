import type { PlannedCertificate } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'

/** A plan with the certificates that are in their places already, whatever it says of them itself. */
export function keepingCertificates(plan: NodePlan, there: readonly PlannedCertificate[]): NodePlan {
  const known = new Map(there.map((place) => [place.certificateFile, place]))
  return {
    ...plan,
    components: plan.components.map((component) => ({
      ...component,
      certificates: component.certificates.map((place) => known.get(place.certificateFile) ?? place),
    })),
  }
}
