import type { Identity } from '../../identity/identity.ts'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { isRenewalDue, year } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'

/** Serving certificate of a program in the cluster, as PEM. */
export interface ServingCertificate {
  /** CA bundle; several certificates while a CA is being replaced. */
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}

/** Only clients inside the cluster use this certificate. It must outlast long periods without an operator. */
const lifetime = 10 * year

/**
 * Returns the existing certificate while it is valid, otherwise a new certificate. Repeated calls therefore
 * cause no changes.
 */
export async function ensureServingCertificate(
  names: readonly string[],
  existing: Pick<ServingCertificate, 'certificate' | 'privateKey'> | undefined,
  { cas }: Pick<Identity, 'cas'>,
  now: Date,
): Promise<ServingCertificate> {
  const { certificate: signer } = cas.kubernetes
  const ca = trustedCas(cas.kubernetes)
  if (existing !== undefined && isUsable(existing.certificate, names, signer, now)) return { ca, ...existing }
  const subject = { commonName: names[0] ?? '', organizations: [] }
  const spec = {
    subject,
    names: { dns: [...names], ip: [] },
    usages: ['server' as const],
    lifetime,
  }
  const { request, privateKey } = await makeRequest('serving key', subject, spec.names)
  const certificate = await signRequest(cas.kubernetes, request, spec, now)
  return { ca, certificate, privateKey: privateKey.revealText() }
}

function isUsable(pem: string, names: readonly string[], ca: string, now: Date): boolean {
  try {
    const found = inspectCertificate(pem)
    const isSignedByCa = found.issuerKeyId === inspectCertificate(ca).subjectKeyId
    return isSignedByCa && names.every((name) => found.names.dns.includes(name)) && !isRenewalDue(found, now)
  } catch {
    return false
  }
}
