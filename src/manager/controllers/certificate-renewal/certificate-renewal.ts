import { hostKind } from '../../../kube/host-resource.ts'
import { applyStatus } from '../../../kube/write-objects.ts'
import { areConditionsCurrent, addTransitionTimes } from '../../conditions.ts'
import type { ControllerDefinition } from '../../controller.ts'
import { requestHostAction, hostRequestRules } from '../../host-requests.ts'
import { createReconciler } from '../../reconciler.ts'
import { hostWatch, isHostChanged } from '../../watch-specs.ts'
import { decideRenewal } from './decide.ts'

const hourMs = 3_600_000
const maxIntervalMs = 6 * hourMs

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
    metrics.gauges('hyperkube_certificate_end_seconds', 'When the first certificate of a host ends.', () =>
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
        // The agent of this host has not reported its certificates yet.
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
