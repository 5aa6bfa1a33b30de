import type { InstalledCertificate } from '../../contract/request.ts'
import type { Identity } from '../../identity/identity.ts'
import type { Phase } from '../../identity/replacement.ts'
import type { AuthorityName } from '../../pki/ca.ts'
import { type CertificateFacts, inspectCertificate } from '../../pki/inspect.ts'
import { isValid, renewalDue, renewalTime } from '../../pki/lifetime.ts'

/** A certificate of a host, as a person wants to know of it. Times are ISO. */
export interface CertificateRow {
  readonly host: string
  readonly component: string
  readonly file: string
  readonly authority: AuthorityName
  /** `missing` when its file is gone; `due` also when another key of its authority signs now. */
  readonly state: 'good' | 'due' | 'expired' | 'missing'
  readonly subject?: string
  /** Which key of its authority has signed it. */
  readonly signedBy?: Signer
  readonly from?: string
  readonly until?: string
  readonly due?: string
}

/** `current` is the one that signs now. */
export type Signer = 'current' | 'next' | 'former' | 'unknown'

/** A certificate of an authority itself. */
export interface AuthorityRow {
  readonly authority: AuthorityName
  readonly use: Exclude<Signer, 'unknown'>
  /** How far its replacement has come. */
  readonly phase?: Phase
  readonly from: string
  readonly until: string
}

interface Known {
  readonly row: AuthorityRow
  readonly keyId: string | undefined
}

export function authorityRows({ authorities }: Pick<Identity, 'authorities'>): AuthorityRow[] {
  return knownOf({ authorities }).map(({ row }) => row)
}

export function certificateRows(
  host: string,
  installed: readonly InstalledCertificate[],
  identity: Pick<Identity, 'authorities'>,
  now: Date,
): CertificateRow[] {
  const known = knownOf(identity)
  return installed.map(({ certificate, ...head }) => {
    const facts = certificate === undefined ? undefined : read(certificate)
    if (facts === undefined) return { host, ...head, state: 'missing' }
    const signer = known.find(
      ({ row, keyId }) => row.authority === head.authority && keyId === facts.authorityKeyId,
    )
    const signedBy = signer?.row.use ?? 'unknown'
    return {
      host,
      ...head,
      state: stateOf(facts, signedBy, now),
      subject: [`CN=${facts.commonName ?? ''}`, ...facts.organizations.map((name) => `O=${name}`)].join(', '),
      signedBy,
      from: facts.notBefore.toISOString(),
      until: facts.notAfter.toISOString(),
      due: renewalTime(facts).toISOString(),
    }
  })
}

function stateOf(facts: CertificateFacts, signedBy: Signer, now: Date): CertificateRow['state'] {
  if (!isValid(facts, now)) return 'expired'
  return renewalDue(facts, now) || signedBy !== 'current' ? 'due' : 'good'
}

function knownOf({ authorities }: Pick<Identity, 'authorities'>): Known[] {
  return Object.values(authorities).flatMap(({ name, certificate, replacement }) => {
    const row = (use: AuthorityRow['use'], pem: string): Known => {
      const facts = inspectCertificate(pem)
      return {
        row: {
          authority: name,
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
          : [row('former', replacement.former)]
    return [row('current', certificate), ...other]
  })
}

/** What is in a file may be anything. */
function read(pem: string): CertificateFacts | undefined {
  try {
    return inspectCertificate(pem)
  } catch {
    return undefined
  }
}
