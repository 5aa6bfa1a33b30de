import type { X509Certificate } from 'node:crypto'
import { type Wish, wish as wishSchema } from '../contract/certificate-spec.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { AuthorityName } from './ca.ts'
import { checkRequest } from './check-request.ts'
import { inspectCertificate } from './inspect.ts'
import { isValid, lifetimeOf, type Validity, year } from './lifetime.ts'
import { isRenewable } from './renewable.ts'
import { isProven } from './renewal-proof.ts'
import { certificatesIn } from './pem-bundle.ts'
import type { X509 } from './x509.ts'

/** What somebody asks for who has a certificate, and wants one for another key in its place. */
export interface RenewalRequest {
  /** As whom they ask, in the words of the API. */
  readonly requester: string
  /** For the new key. PEM, as the former certificate. */
  readonly request: string
  readonly former: string
  readonly proof: string
}

/** The certificates of each authority that is trusted now. */
export type Trusted = Readonly<Record<AuthorityName, readonly X509Certificate[]>>

export type RenewalVerdict =
  | { readonly verdict: 'granted'; readonly authority: AuthorityName; readonly wish: Wish }
  | Refused

export interface Refused {
  readonly verdict: 'refused'
  readonly reason: 'FormerNotTrusted' | 'FormerNotValid' | 'NotRenewable' | 'NotProven' | 'RequestRefused'
  /** For people. */
  readonly message: string
}

/** No certificate of ours comes near it. */
const largest = 16_384

/**
 * Whether somebody may have a new certificate, and which: one that says what the former one says, for as long as it did.
 * Of the request nothing counts but its key.
 */
export function checkRenewal(x509: X509, asked: RenewalRequest, trusted: Trusted, now: Date): RenewalVerdict {
  const { requester, request, former: pem, proof } = asked
  const [former, ...more] = pem.length > largest ? [] : certificatesIn(pem)
  const authority = former === undefined ? undefined : authorityOf(former, trusted, now)
  if (former === undefined || more.length > 0 || authority === undefined)
    return refused('FormerNotTrusted', 'the former certificate is of no authority that is trusted now')
  const facts = inspectCertificate(former.toString())
  if (!isValid(facts, now)) return refused('FormerNotValid', `the former certificate is ${period(facts)}`)
  const { commonName = '', organizations, names, usages } = facts
  const subject = { commonName, organizations }
  if (facts.authority || !isRenewable(authority, subject, requester))
    return refused('NotRenewable', `${requester} may not have the certificate of ${commonName} renewed`)
  if (!isProven(request, former, proof))
    return refused('NotProven', `whoever asks does not hold the key of the former certificate`)
  const wish = wishSchema.safeParse({ subject, names, usages, lifetime: Math.min(lifetimeOf(facts), year) })
  if (!wish.success)
    return refused('NotRenewable', `the certificate of ${commonName} is none that a host has of us`)
  const wrong = requestFault(x509, request, wish.data, former)
  if (wrong !== undefined) return refused('RequestRefused', wrong)
  return { verdict: 'granted', authority, wish: wish.data }
}

function authorityOf(former: X509Certificate, trusted: Trusted, now: Date): AuthorityName | undefined {
  const isSigner = (one: X509Certificate): boolean =>
    isValid({ notBefore: one.validFromDate, notAfter: one.validToDate }, now) &&
    former.checkIssued(one) &&
    former.verify(one.publicKey)
  // Spelt out, so that the names stay names.
  if (trusted.kubernetes.some(isSigner)) return 'kubernetes'
  if (trusted.etcd.some(isSigner)) return 'etcd'
  return trusted['front-proxy'].some(isSigner) ? 'front-proxy' : undefined
}

function requestFault(
  x509: X509,
  request: string,
  wish: Wish,
  { publicKey }: X509Certificate,
): string | undefined {
  try {
    const key = checkRequest(x509, request, wish)
    const isFormer = publicKey.export({ type: 'spki', format: 'der' }).equals(key)
    return isFormer ? 'the key is the one of the former certificate' : undefined
  } catch (error) {
    if (error instanceof HyperkubeError) return error.message
    throw error
  }
}

function period({ notBefore, notAfter }: Validity): string {
  return `only valid from ${notBefore.toISOString()} to ${notAfter.toISOString()}`
}

function refused(reason: Refused['reason'], message: string): Refused {
  return { verdict: 'refused', reason, message }
}
