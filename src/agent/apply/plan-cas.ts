import type { X509Certificate } from 'node:crypto'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { AuthorityName } from '../../pki/ca.ts'
import { certificatesIn } from '../../pki/pem-bundle.ts'

/**
 * The authorities of a plan: their certificates are in its files, for components to trust. There may be several while
 * one replaces the other: the first one signs.
 */
export function authoritiesOf(plan: NodePlan, name: AuthorityName): readonly X509Certificate[] {
  const texts = plan.components.flatMap(({ files }) =>
    files.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : [])),
  )
  const all = new Map(
    [...new Set(texts)].flatMap(certificatesIn).map((one) => [one.fingerprint256, one] as const),
  )
  return [...all.values()].filter(({ ca, subject }) => ca && subject === `CN=${name}-ca`)
}
