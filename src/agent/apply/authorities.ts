import { X509Certificate } from 'node:crypto'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'

const onePem = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g

export type AuthorityName = PlannedCertificate['authority']

/** The authorities of a plan: their certificates are in its files, for components to trust. There may be several while one replaces the other. */
export function authoritiesOf(plan: NodePlan, name: AuthorityName): readonly X509Certificate[] {
  const texts = plan.components.flatMap(({ files }) =>
    files.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : [])),
  )
  const pems = new Set(texts.flatMap((text) => text.match(onePem) ?? []))
  return [...pems].flatMap(parsed).filter(({ ca, subject }) => ca && subject === `CN=${name}-ca`)
}

/** A text that only looks like a certificate is nobody's authority. */
function parsed(pem: string): X509Certificate[] {
  try {
    return [new X509Certificate(pem)]
  } catch {
    return []
  }
}
