import type { X509Certificate } from 'node:crypto'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { CaName } from '../../pki/ca.ts'
import { parseCertificates } from '../../pki/pem-bundle.ts'

/**
 * Returns the CA certificates with this name that the plan puts into files for components to trust. During a
 * CA rotation there are several; the first one signs.
 */
export function findPlanCas(plan: NodePlan, name: CaName): readonly X509Certificate[] {
  const texts = plan.components.flatMap(({ files }) =>
    files.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : [])),
  )
  const byFingerprint = new Map(
    [...new Set(texts)].flatMap(parseCertificates).map((one) => [one.fingerprint256, one] as const),
  )
  return [...byFingerprint.values()].filter(({ ca, subject }) => ca && subject === `CN=${name}-ca`)
}
