import type { InstalledCertificate } from '../../contract/request.ts'
import type { Identity, ReplacementPhase } from '../../identity/identity.ts'
import type { CaName } from '../../pki/ca.ts'
import { type CertificateFacts, inspectCertificate } from '../../pki/certificates.ts'
import { isRenewalDue, isValid, renewalTime } from '../../pki/lifetime.ts'

/** A certificate of a host for display. Times are ISO 8601 strings. */
export interface CertificateRow {
  readonly host: string
  readonly component: string
  readonly file: string
  readonly ca: CaName
  /**
   * `missing`: the file is absent or invalid. `due`: the certificate must be renewed, either because of its
   * age or after its CA has changed to another key.
   */
  readonly state: 'good' | 'due' | 'expired' | 'missing'
  readonly subject?: string
  /** The CA key that signed the certificate. */
  readonly signedBy?: CertificateSigner
  readonly from?: string
  readonly until?: string
  readonly due?: string
}

/** Which key of a CA signed a certificate. `current` is the key that signs now. */
export type CertificateSigner = 'current' | 'next' | 'previous' | 'unknown'

/** A CA certificate for display. */
export interface CaRow {
  readonly ca: CaName
  readonly use: Exclude<CertificateSigner, 'unknown'>
  /** Phase of the CA replacement; undefined if the CA is not being replaced. */
  readonly phase?: ReplacementPhase
  readonly from: string
  readonly until: string
}

interface KnownCa {
  readonly row: CaRow
  readonly keyId: string | undefined
}

export function listCaRows({ cas }: Pick<Identity, 'cas'>): CaRow[] {
  return listKnownCas({ cas }).map(({ row }) => row)
}

export function listCertificateRows(
  host: string,
  installed: readonly InstalledCertificate[],
  identity: Pick<Identity, 'cas'>,
  now: Date,
): CertificateRow[] {
  const known = listKnownCas(identity)
  return installed.map(({ certificate, ...head }) => {
    const facts = certificate === undefined ? undefined : parseCertificate(certificate)
    if (facts === undefined) return { host, ...head, state: 'missing' }
    const signer = known.find(({ row, keyId }) => row.ca === head.ca && keyId === facts.issuerKeyId)
    const signedBy = signer?.row.use ?? 'unknown'
    return {
      host,
      ...head,
      state: toCertificateState(facts, signedBy, now),
      subject: [`CN=${facts.commonName ?? ''}`, ...facts.organizations.map((name) => `O=${name}`)].join(', '),
      signedBy,
      from: facts.notBefore.toISOString(),
      until: facts.notAfter.toISOString(),
      due: renewalTime(facts).toISOString(),
    }
  })
}

function toCertificateState(
  facts: CertificateFacts,
  signedBy: CertificateSigner,
  now: Date,
): CertificateRow['state'] {
  if (!isValid(facts, now)) return 'expired'
  return isRenewalDue(facts, now) || signedBy !== 'current' ? 'due' : 'good'
}

function listKnownCas({ cas }: Pick<Identity, 'cas'>): KnownCa[] {
  return Object.values(cas).flatMap(({ name, certificate, replacement }) => {
    const row = (use: CaRow['use'], pem: string): KnownCa => {
      const facts = inspectCertificate(pem)
      return {
        row: {
          ca: name,
          use,
          ...(replacement === undefined ? {} : { phase: replacement.phase }),
          from: facts.notBefore.toISOString(),
          until: facts.notAfter.toISOString(),
        },
        keyId: facts.subjectKeyId,
      }
    }
    const other =
      replacement === undefined
        ? []
        : replacement.phase === 'trust'
          ? [row('next', replacement.next.certificate)]
          : [row('previous', replacement.previous)]
    return [row('current', certificate), ...other]
  })
}

/** Parses a certificate; undefined if the text is not a valid certificate. */
function parseCertificate(pem: string): CertificateFacts | undefined {
  try {
    return inspectCertificate(pem)
  } catch {
    return undefined
  }
}
