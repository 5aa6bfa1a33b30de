import type { PlannedCertificate } from '../contract/component-plan.ts'
import type { Scene } from './context.ts'

interface CertificateWish {
  /** The path without an ending: that of the certificate and of its key. */
  readonly path: string
  readonly owner: string
  readonly authority: PlannedCertificate['authority']
  readonly commonName: string
  readonly organizations?: readonly string[]
}

type Wishes = Pick<Scene, 'cluster'>

export function clientCertificate(scene: Wishes, wish: CertificateWish): PlannedCertificate {
  return certificate(scene, wish, { dns: [], ip: [] }, ['client'])
}

export function serverCertificate(
  scene: Wishes,
  wish: CertificateWish,
  names: PlannedCertificate['names'],
  usages: PlannedCertificate['usages'] = ['server'],
): PlannedCertificate {
  return certificate(scene, wish, names, usages)
}

function certificate(
  { cluster }: Wishes,
  { path, owner, authority, commonName, organizations = [] }: CertificateWish,
  names: PlannedCertificate['names'],
  usages: PlannedCertificate['usages'],
): PlannedCertificate {
  return {
    authority,
    subject: { commonName, organizations },
    names,
    usages,
    lifetime: cluster.spec.certificates.lifetime,
    owner,
    certificateFile: `${path}.crt`,
    keyFile: `${path}.key`,
  }
}
