import type { KnownCertificate } from '../../../contract/host-resource.ts'
import type { ConditionWish } from '../../conditions.ts'

export interface RenewalDecision {
  readonly condition: ConditionWish
  /** Whether the agent should have renewed something, and has not. */
  readonly ask: boolean
  /** When something else is the case, at the latest, if nothing happens. Milliseconds since 1970. */
  readonly next: number
}

export const conditionType = 'CertificatesCurrent'

/** How it is with the certificates of a host. */
export function decideRenewal(certificates: readonly KnownCertificate[], now: number): RenewalDecision {
  const expired = certificates.filter(({ notAfter }) => Date.parse(notAfter) <= now)
  const overdue = certificates.filter((one) => overdueAt(one) <= now && !expired.includes(one))
  const moments = certificates.flatMap((one) => [overdueAt(one), Date.parse(one.notAfter)])
  const next = Math.min(...moments.filter((moment) => moment > now))
  const ends = Math.min(...certificates.map(({ notAfter }) => Date.parse(notAfter)))
  if (expired.length > 0) {
    const message = `${files(expired)} ended; where cluster.yml is: hyperkube certs renew`
    return { condition: said('False', 'Expired', message), ask: false, next }
  }
  if (overdue.length > 0) {
    const message = `${files(overdue)} should have been renewed, and ends on ${dateOf(ends)}`
    return { condition: said('False', 'Overdue', message), ask: true, next }
  }
  const message = certificates.length === 0 ? 'there are none' : `the first one ends on ${dateOf(ends)}`
  return { condition: said('True', 'Current', message), ask: false, next }
}

/** An agent has a quarter of the time that is left: it looks many times in it. */
function overdueAt({ renewAfter, notAfter }: KnownCertificate): number {
  const from = Date.parse(renewAfter)
  return from + (Date.parse(notAfter) - from) / 4
}

function said(status: ConditionWish['status'], reason: string, message: string): ConditionWish {
  return { type: conditionType, status, reason, message }
}

function files([first, ...more]: readonly KnownCertificate[]): string {
  return more.length === 0 ? (first?.file ?? '') : `${first?.file} and ${more.length} more`
}

/** To the day: what is said must not change with every hour. */
function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
