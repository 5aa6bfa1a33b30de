import { isIP } from 'node:net'
import type { PlannedCertificate } from '../contract/component-plan.ts'
import type { PlanContext } from './context.ts'

interface CertificateOptions {
  /** Common path of the certificate file and the key file, without extension. */
  readonly path: string
  readonly owner: string
  readonly ca: PlannedCertificate['ca']
  readonly commonName: string
  readonly organizations?: readonly string[]
}

type CertificateContext = Pick<PlanContext, 'cluster'>

export function planClientCertificate(
  context: CertificateContext,
  options: CertificateOptions,
): PlannedCertificate {
  return planCertificate(context, options, { dns: [], ip: [] }, ['client'])
}

export function planServerCertificate(
  context: CertificateContext,
  options: CertificateOptions,
  names: PlannedCertificate['names'],
  usages: PlannedCertificate['usages'] = ['server'],
): PlannedCertificate {
  return planCertificate(context, options, names, usages)
}

function planCertificate(
  { cluster }: CertificateContext,
  { path, owner, ca, commonName, organizations = [] }: CertificateOptions,
  names: PlannedCertificate['names'],
  usages: PlannedCertificate['usages'],
): PlannedCertificate {
  return {
    ca,
    subject: { commonName, organizations },
    names,
    usages,
    lifetime: cluster.spec.certificates.lifetime,
    owner,
    certificateFile: `${path}.crt`,
    keyFile: `${path}.key`,
  }
}

/**
 * Splits the names of a server into DNS names and IP addresses and removes duplicates. Every name is tested,
 * because even a node name may be an IP address.
 */
export function splitAlternativeNames(...names: readonly string[]): PlannedCertificate['names'] {
  const unique = [...new Set(names)]
  return { dns: unique.filter((name) => isIP(name) === 0), ip: unique.filter((name) => isIP(name) !== 0) }
}
