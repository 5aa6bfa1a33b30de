import type { PlannedCertificate } from '../contract/component-plan.ts'

/** A year; whoever renews has four months to do it. */
const lifetime = 365 * 86_400_000

interface CertificateWish {
  /** The path without an ending: that of the certificate and of its key. */
  readonly path: string
  readonly owner: string
  readonly authority: PlannedCertificate['authority']
  readonly commonName: string
  readonly organizations?: readonly string[]
}

export function clientCertificate(wish: CertificateWish): PlannedCertificate {
  return certificate(wish, { dns: [], ip: [] }, ['client'])
}

export function serverCertificate(
  wish: CertificateWish,
  names: PlannedCertificate['names'],
  usages: PlannedCertificate['usages'] = ['server'],
): PlannedCertificate {
  return certificate(wish, names, usages)
}

function certificate(
  { path, owner, authority, commonName, organizations = [] }: CertificateWish,
  names: PlannedCertificate['names'],
  usages: PlannedCertificate['usages'],
): PlannedCertificate {
  return {
    authority,
    subject: { commonName, organizations },
    names,
    usages,
    lifetime,
    owner,
    certificateFile: `${path}.crt`,
    keyFile: `${path}.key`,
  }
}
