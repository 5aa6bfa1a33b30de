import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type CertificateSpec, certificateSpec } from '../contract/certificate-spec.ts'
import type { RenewableCertificate } from '../contract/host-resource.ts'
import { renewalSigner } from '../contract/renewal.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { type CaName, caNames } from './ca.ts'
import { checkRequest } from './check-request.ts'
import { inspectCertificate, parseCertificates } from './certificates.ts'
import { computeLifetime, isValid, type Validity, year } from './lifetime.ts'
import type { CertificateSubject } from './names.ts'
import type { X509 } from './x509.ts'

/**
 * True if the plan of the requesting host has a certificate with this CA and subject. Certificates of people,
 * of other hosts and of removed hosts are in no such plan.
 */
export function isRenewable(
  ca: CaName,
  { commonName, organizations }: CertificateSubject,
  planned: readonly RenewableCertificate[],
): boolean {
  return planned.some(
    (one) =>
      one.ca === ca &&
      one.subject.commonName === commonName &&
      isDeepStrictEqual(one.subject.organizations, organizations),
  )
}

/** A request for a certificate with the same content as the previous one and a new key. */
export interface RenewalRequest {
  /** User name of the requester in the Kubernetes API. */
  readonly requester: string
  /** Certificate signing request for the new key, as PEM. `previous` is PEM too. */
  readonly request: string
  readonly previous: string
  readonly proof: string
  /**
   * Certificates in the plan of the requesting host, as the operator wrote them to its Host object. Empty if
   * the requester is not a node or was removed from the cluster.
   */
  readonly planned: readonly RenewableCertificate[]
}

/** Trusted certificates of each CA. */
export type TrustedCas = Readonly<Record<CaName, readonly X509Certificate[]>>

export type RenewalVerdict =
  | { readonly verdict: 'granted'; readonly ca: CaName; readonly spec: CertificateSpec }
  | RenewalRefusal

export interface RenewalRefusal {
  readonly verdict: 'refused'
  readonly reason: 'PreviousNotTrusted' | 'PreviousNotValid' | 'NotRenewable' | 'NotProven' | 'RequestRefused'
  /** Reason in words, for people. */
  readonly message: string
}

/** Maximum length of PEM input in characters. Certificates of a cluster are far smaller. */
const maxPemLength = 16_384

/**
 * Decides whether the requester gets a new certificate, and returns its spec. Content and lifetime are those
 * of the previous certificate; only the key comes from the request.
 */
export function checkRenewal(
  x509: X509,
  renewal: RenewalRequest,
  trusted: TrustedCas,
  now: Date,
): RenewalVerdict {
  const { requester, request, previous: pem, proof, planned } = renewal
  const [previous, ...more] = pem.length > maxPemLength ? [] : parseCertificates(pem)
  const issuers = previous === undefined ? [] : listIssuers(previous, trusted, now)
  if (previous === undefined || more.length > 0 || issuers.length === 0)
    return refuse('PreviousNotTrusted', 'no trusted CA signed the previous certificate')
  const facts = inspectCertificate(previous.toString())
  if (!isValid(facts, now))
    return refuse('PreviousNotValid', `the previous certificate is ${formatPeriod(facts)}`)
  const { commonName = '', organizations, names, usages } = facts
  const subject = { commonName, organizations }
  // Clusters of RKE1 use one CA for the API and for etcd.
  const ca = issuers.find((one) => isRenewable(one, subject, planned))
  if (facts.isCa || ca === undefined)
    return refuse('NotRenewable', `the plan of ${requester} has no certificate of ${commonName}`)
  if (!isRenewalProven(request, previous, proof))
    return refuse('NotProven', 'the requester does not hold the key of the previous certificate')
  const spec = certificateSpec.safeParse({
    subject,
    names,
    usages,
    lifetime: Math.min(computeLifetime(facts), year),
  })
  if (!spec.success)
    return refuse('NotRenewable', `the certificate of ${commonName} is not a host certificate of hyperkube`)
  const problem = findRequestProblem(x509, request, spec.data, previous)
  if (problem !== undefined) return refuse('RequestRefused', problem)
  return { verdict: 'granted', ca, spec: spec.data }
}

function listIssuers(previous: X509Certificate, trusted: TrustedCas, now: Date): readonly CaName[] {
  const isSigner = (one: X509Certificate): boolean =>
    isValid({ notBefore: one.validFromDate, notAfter: one.validToDate }, now) &&
    previous.checkIssued(one) &&
    previous.verify(one.publicKey)
  return caNames.filter((name) => trusted[name].some(isSigner))
}

function findRequestProblem(
  x509: X509,
  request: string,
  spec: CertificateSpec,
  { publicKey }: X509Certificate,
): string | undefined {
  try {
    const key = checkRequest(x509, request, spec)
    const isPreviousKey = publicKey.export({ type: 'spki', format: 'der' }).equals(key)
    return isPreviousKey ? 'the request reuses the key of the previous certificate' : undefined
  } catch (error) {
    if (error instanceof HyperkubeError) return error.message
    throw error
  }
}

function formatPeriod({ notBefore, notAfter }: Validity): string {
  return `only valid from ${notBefore.toISOString()} to ${notAfter.toISOString()}`
}

function refuse(reason: RenewalRefusal['reason'], message: string): RenewalRefusal {
  return { verdict: 'refused', reason, message }
}

/**
 * Signs request and previous certificate (both PEM) with the key of the previous certificate. The base64
 * signature proves that the requester has this key.
 */
export function proveRenewal(request: string, previous: string, privateKey: string): string {
  const statement = buildStatement(request, new X509Certificate(previous))
  return sign('sha256', statement, createPrivateKey(privateKey)).toString('base64')
}

function isRenewalProven(request: string, previous: X509Certificate, proof: string): boolean {
  return isSigned(buildStatement(request, previous), previous.publicKey, Buffer.from(proof, 'base64'))
}

/** Builds the text to sign. Its prefix prevents the signature from being used for another purpose. */
function buildStatement(request: string, previous: X509Certificate): Buffer {
  return Buffer.from(`${renewalSigner}\n${previous.fingerprint256}\n${request}`)
}

function isSigned(statement: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify('sha256', statement, key, signature)
  } catch {
    // A key of another type cannot verify the signature.
    return false
  }
}
