import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { type CertificateFacts, inspectCertificate } from '../../pki/certificates.ts'
import { isValid, isRenewalDue } from '../../pki/lifetime.ts'
import { canonicalNames } from '../../pki/names.ts'

export type PlannedCertificateSpec = Pick<
  PlannedCertificate,
  'ca' | 'subject' | 'names' | 'usages' | 'lifetime'
>

export interface CertificatePair {
  /** The certificate as PEM. `privateKey` is PEM too. */
  readonly certificate: string
  readonly privateKey: string
}

/** One reason why a certificate does not match its spec. */
export interface CertificateProblem {
  readonly text: string
  /** True if this problem only requires a renewal. Otherwise the certificate does not match its spec. */
  readonly due: boolean
}

/** Certificates are backdated by a few minutes, so the measured lifetime may differ by this much. */
const lifetimeToleranceMs = 10 * 60_000

/**
 * Returns every reason why a certificate does not match its spec; empty if it matches. If `cas` has several
 * CAs, only the first one signs. A certificate of another one is then due for renewal. Without CAs the
 * signature is not checked.
 */
export function findCertificateProblems(
  { certificate, privateKey }: CertificatePair,
  spec: PlannedCertificateSpec,
  cas: readonly X509Certificate[] | undefined,
  now: Date,
): readonly CertificateProblem[] {
  const read = readFacts(certificate)
  if (read === undefined) return [defect('it is not a certificate')]
  const parsed = new X509Certificate(certificate)
  const signers = cas?.filter((ca) => isSignedBy(parsed, ca))
  return [
    ...(matchesKey(parsed, privateKey) ? [] : [defect('it does not match its key')]),
    ...(signers?.length === 0 ? [defect(`it is not signed by CA ${spec.ca}`)] : []),
    ...findSpecProblems(read, spec).map(defect),
    ...findLifetimeProblems(read, spec, signers).map(defect),
    ...(signers?.[0] === undefined || signers[0] === cas?.[0]
      ? []
      : [due(`it is signed with a key of CA ${spec.ca} that is being replaced`)]),
    ...findValidityProblems(read, now).map(due),
  ]
}

function defect(text: string): CertificateProblem {
  return { text, due: false }
}

function due(text: string): CertificateProblem {
  return { text, due: true }
}

function readFacts(certificate: string): CertificateFacts | undefined {
  try {
    return inspectCertificate(certificate)
  } catch {
    return undefined
  }
}

function matchesKey(certificate: X509Certificate, privateKey: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(privateKey))
  } catch {
    return false
  }
}

function isSignedBy(certificate: X509Certificate, ca: X509Certificate): boolean {
  return certificate.checkIssued(ca) && certificate.verify(ca.publicKey)
}

function findSpecProblems(
  found: CertificateFacts,
  { subject, names, usages }: PlannedCertificateSpec,
): string[] {
  const wanted = canonicalNames(names)
  const pairs = [
    ['name', [found.commonName ?? ''], [subject.commonName]],
    ['groups', found.organizations, subject.organizations],
    ['DNS names', found.names.dns, wanted.dns],
    ['addresses', found.names.ip, wanted.ip],
    ['usages', found.usages, usages],
  ] as const
  return [
    ...(found.isCa ? ['it is a CA certificate'] : []),
    ...pairs.flatMap(([what, is, desired]) =>
      isSameSet(is, desired) ? [] : [`it does not match the plan: ${what}`],
    ),
  ]
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted())
}

/**
 * Checks the lifetime of a certificate. A shorter lifetime than planned is accepted if the certificate ends
 * together with its CA.
 */
function findLifetimeProblems(
  { notBefore, notAfter }: CertificateFacts,
  { lifetime }: PlannedCertificateSpec,
  signers: readonly X509Certificate[] | undefined,
): string[] {
  const length = notAfter.getTime() - notBefore.getTime()
  const endsWithCa = signers?.some(({ validToDate }) => validToDate.getTime() === notAfter.getTime()) ?? true
  const fine = Math.abs(length - lifetime) <= lifetimeToleranceMs || (endsWithCa && length < lifetime)
  return fine ? [] : ['it does not match the plan: lifetime']
}

function findValidityProblems(found: CertificateFacts, now: Date): string[] {
  const period = `from ${found.notBefore.toISOString()} to ${found.notAfter.toISOString()}`
  if (!isValid(found, now))
    return [`it is valid ${period}, but the clock of the host is at ${now.toISOString()}`]
  return isRenewalDue(found, now) ? [`it is valid ${period}, and due for renewal`] : []
}
