import type { HostCertificate } from '../../contract/host-resource.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { applyStatus } from '../../kube/write-objects.ts'
import { addTransitionTimes, areConditionsCurrent, type ConditionSpec } from '../conditions.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { hostRequestRules, requestHostAction } from '../host-requests.ts'
import { hostWatch, isHostChanged } from '../watch-specs.ts'

export const certificateRenewal: ControllerDefinition = {
  name: 'certificate-renewal',
  aliases: ['certificates'],
  summary: 'writes the state of certificates as a host condition, and requests overdue renewals from agents',
  byDefault: true,
  watches: [hostWatch],
  rules: [
    ...hostRequestRules,
    { apiGroups: ['hyperkube.dev'], resources: ['hosts/status'], verbs: ['patch'] },
  ],
  build(context) {
    const { queue, client, now, metrics } = context
    const known = context.getInformer(hostWatch)
    known.listen((change) => {
      if (isHostChanged(change)) queue.add(change.key)
    })
    metrics.gauges(
      'hyperkube_certificate_end_seconds',
      'Earliest expiry of the certificates of a host.',
      () =>
        [...known.keys()].flatMap((host) => {
          const ends = (known.get(host)?.status.certificates ?? []).map(
            ({ notAfter }) => Date.parse(notAfter) / 1000,
          )
          return ends.length === 0 ? [] : [[{ host }, Math.min(...ends)] as const]
        }),
    )
    return createReconciler(context, {
      async reconcile(name) {
        const { certificates, conditions = [] } = known.get(name)?.status ?? {}
        // The agent of this host has not reported its certificates yet, so there is nothing to decide.
        if (certificates === undefined) return undefined
        const time = now()
        const { condition, renew, next } = decideRenewal(certificates, time.getTime())
        if (!areConditionsCurrent([condition], conditions)) {
          const { apiVersion, kind } = hostKind
          const status = { conditions: addTransitionTimes([condition], conditions, time) }
          const manager = 'hyperkube-certificate-renewal'
          await applyStatus(
            client,
            { apiVersion, kind, metadata: { name }, status },
            { force: true, manager },
          )
        }
        if (renew) {
          const id = `certificate-renewal.${time.toISOString().slice(0, 10)}`
          await requestHostAction(context, name, {
            id,
            action: { type: 'renew-certificates' },
            startTimeoutMs: 12 * hourMs,
          })
        }
        return { requeueAfter: Math.min(maxIntervalMs, Math.max(60_000, next - time.getTime())) }
      },
    })
  },
}

interface RenewalDecision {
  readonly condition: ConditionSpec
  /** True if the agent should have renewed a certificate but has not. */
  readonly renew: boolean
  /**
   * Earliest time at which the decision changes without a new event, in milliseconds since 1970. Infinity if
   * it does not change.
   */
  readonly next: number
}

const certificatesConditionType = 'CertificatesCurrent'

/** Decides the condition of a host's certificates and whether a renewal must be requested. */
export function decideRenewal(certificates: readonly HostCertificate[], now: number): RenewalDecision {
  const expired = certificates.filter(({ notAfter }) => Date.parse(notAfter) <= now)
  const overdue = certificates.filter((one) => overdueAt(one) <= now && !expired.includes(one))
  const deadlines = certificates.flatMap((one) => [overdueAt(one), Date.parse(one.notAfter)])
  const next = Math.min(...deadlines.filter((deadline) => deadline > now))
  const ends = Math.min(...certificates.map(({ notAfter }) => Date.parse(notAfter)))
  if (expired.length > 0) {
    const message = `expired: ${formatFiles(expired)}; in the directory of cluster.yml: hyperkube certs renew`
    return { condition: buildCondition('False', 'Expired', message), renew: false, next }
  }
  if (overdue.length > 0) {
    const message = `renewal overdue: ${formatFiles(overdue)}; earliest expiry ${formatDate(ends)}`
    return { condition: buildCondition('False', 'Overdue', message), renew: true, next }
  }
  const message =
    certificates.length === 0 ? 'the host has no certificates' : `earliest expiry ${formatDate(ends)}`
  return { condition: buildCondition('True', 'Current', message), renew: false, next }
}

/**
 * Returns when a renewal is overdue. The agent has a quarter of the time between `renewAfter` and `notAfter`,
 * which is enough for many attempts.
 */
function overdueAt({ renewAfter, notAfter }: HostCertificate): number {
  const from = Date.parse(renewAfter)
  return from + (Date.parse(notAfter) - from) / 4
}

function buildCondition(status: ConditionSpec['status'], reason: string, message: string): ConditionSpec {
  return { type: certificatesConditionType, status, reason, message }
}

function formatFiles([first, ...more]: readonly HostCertificate[]): string {
  return more.length === 0 ? (first?.file ?? '') : `${first?.file} and ${more.length} more`
}

/**
 * Formats a time as a date. The time of day is left out, so that the message, and with it the condition,
 * changes less often.
 */
function formatDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

const hourMs = 3_600_000

const maxIntervalMs = 6 * hourMs
