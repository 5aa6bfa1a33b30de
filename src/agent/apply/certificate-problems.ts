import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { type CertificateFacts, inspectCertificate } from '../../pki/inspect.ts'
import { isValid, renewalDue } from '../../pki/lifetime.ts'
import { sameSpelling } from '../../pki/names.ts'

export type CertificateWish = Pick<
  PlannedCertificate,
  'authority' | 'subject' | 'names' | 'usages' | 'lifetime'
>

export interface CertificatePair {
  /** PEM, as both. */
  readonly certificate: string
  readonly privateKey: string
}

/** Why a certificate is not the one that is wished for. */
export interface CertificateFault {
  readonly text: string
  /** Whether it is as it was left, and only its time has come. */
  readonly due: boolean
}

/** A certificate is good from shortly before it was made. */
const slack = 10 * 60_000

/**
 * Why a certificate is not the one that is wished for; none when it is. Of several authorities the first one signs now,
 * and what another one has signed is due. Without authorities nobody asks who signed it.
 */
export function certificateFaults(
  { certificate, privateKey }: CertificatePair,
  wish: CertificateWish,
  authorities: readonly X509Certificate[] | undefined,
  now: Date,
): readonly CertificateFault[] {
  const read = facts(certificate)
  if (read === undefined) return [wrong('it is no certificate')]
  const parsed = new X509Certificate(certificate)
  const signers = authorities?.filter((authority) => isSignedBy(parsed, authority))
  return [
    ...(fits(parsed, privateKey) ? [] : [wrong('it does not fit its key')]),
    ...(signers?.length === 0 ? [wrong(`the authority ${wish.authority} has not signed it`)] : []),
    ...wishFaults(read, wish).map(wrong),
    ...lifetimeFaults(read, wish, signers).map(wrong),
    ...(signers?.[0] === undefined || signers[0] === authorities?.[0]
      ? []
      : [due(`it was signed with a key of the authority ${wish.authority} that is being replaced`)]),
    ...timeFaults(read, now).map(due),
  ]
}

function wrong(text: string): CertificateFault {
  return { text, due: false }
}

function due(text: string): CertificateFault {
  return { text, due: true }
}

function facts(certificate: string): CertificateFacts | undefined {
  try {
    return inspectCertificate(certificate)
  } catch {
    return undefined
  }
}

function fits(certificate: X509Certificate, privateKey: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(privateKey))
  } catch {
    return false
  }
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function wishFaults(found: CertificateFacts, { subject, names, usages }: CertificateWish): string[] {
  const wanted = sameSpelling(names)
  const pairs = [
    ['its name', [found.commonName ?? ''], [subject.commonName]],
    ['its groups', found.organizations, subject.organizations],
    ['its DNS names', found.names.dns, wanted.dns],
    ['its addresses', found.names.ip, wanted.ip],
    ['its usages', found.usages, usages],
  ] as const
  return [
    ...(found.authority ? ['it is an authority itself'] : []),
    ...pairs.flatMap(([what, is, shall]) =>
      isSameSet(is, shall) ? [] : [`${what} are not those of the plan`],
    ),
  ]
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted())
}

/** It may be shorter where the authority itself ends. */
function lifetimeFaults(
  { notBefore, notAfter }: CertificateFacts,
  { lifetime }: CertificateWish,
  signers: readonly X509Certificate[] | undefined,
): string[] {
  const length = notAfter.getTime() - notBefore.getTime()
  const capped = signers?.some(({ validToDate }) => validToDate.getTime() === notAfter.getTime()) ?? true
  const fine = Math.abs(length - lifetime) <= slack || (capped && length < lifetime)
  return fine ? [] : ['its lifetime is not that of the plan']
}

function timeFaults(found: CertificateFacts, now: Date): string[] {
  const period = `from ${found.notBefore.toISOString()} to ${found.notAfter.toISOString()}`
  if (!isValid(found, now)) return [`it is valid ${period}, and here it is ${now.toISOString()}`]
  return renewalDue(found, now) ? [`it is valid ${period}, and due to be renewed`] : []
}
