import type { Identity } from '../../identity/identity.ts'
import { trustedAuthorities } from '../../identity/trusted-keys.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { renewalDue, year } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'

/** What a program in the cluster serves with, as PEM. */
export interface ServingCertificate {
  /** Who vouches for it; several while one replaces the other. */
  readonly authority: string
  readonly certificate: string
  readonly privateKey: string
}

/** Nothing outside the cluster relies on it, and it must outlive an operator who is long away. */
const lifetime = 10 * year

/** The one that there is as long as it is good, and a new one then: what is asked twice has one answer. */
export async function servingCertificate(
  names: readonly string[],
  held: Pick<ServingCertificate, 'certificate' | 'privateKey'> | undefined,
  { authorities }: Pick<Identity, 'authorities'>,
  now: Date,
): Promise<ServingCertificate> {
  const { certificate: signer } = authorities.kubernetes
  const authority = trustedAuthorities(authorities.kubernetes)
  if (held !== undefined && isGood(held.certificate, names, signer, now)) return { authority, ...held }
  const subject = { commonName: names[0] ?? '', organizations: [] }
  const wish = {
    subject,
    names: { dns: [...names], ip: [] },
    usages: ['server' as const],
    lifetime,
  }
  const { request, privateKey } = await makeRequest('serving key', subject, wish.names)
  const certificate = await signRequest(authorities.kubernetes, request, wish, now)
  return { authority, certificate, privateKey: privateKey.revealText() }
}

function isGood(pem: string, names: readonly string[], authority: string, now: Date): boolean {
  try {
    const found = inspectCertificate(pem)
    const isOurs = found.authorityKeyId === inspectCertificate(authority).subjectKeyId
    return isOurs && names.every((name) => found.names.dns.includes(name)) && !renewalDue(found, now)
  } catch {
    return false
  }
}
