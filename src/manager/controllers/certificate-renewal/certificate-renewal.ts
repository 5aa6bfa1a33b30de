import { hosts as hostKind } from '../../../kube/host-resource.ts'
import { patchStatus } from '../../../kube/write-objects.ts'
import { areSaid, withTimes } from '../../conditions.ts'
import type { ControllerRow } from '../../controller.ts'
import { askHost, askRights } from '../../host-requests.ts'
import { reconciling } from '../../reconciler.ts'
import { hosts, isNews } from '../../watch-specs.ts'
import { decideRenewal } from './decide.ts'

/** In milliseconds. */
const hour = 3_600_000
const longest = 6 * hour

export const certificateRenewal: ControllerRow = {
  name: 'certificate-renewal',
  aliases: ['certificates'],
  summary:
    'says at hosts how long their certificates last, and has agents renew what they should have renewed',
  byDefault: true,
  watches: [hosts],
  rights: [...askRights, { apiGroups: ['hyperkube.dev'], resources: ['hosts/status'], verbs: ['patch'] }],
  build(scene) {
    const { queue, client, now, metrics } = scene
    const known = scene.informer(hosts)
    known.listen((change) => {
      if (isNews(change)) queue.add(change.key)
    })
    metrics.gauges('hyperkube_certificate_end_seconds', 'When the first certificate of a host ends.', () =>
      [...known.keys()].flatMap((host) => {
        const ends = (known.get(host)?.status.certificates ?? []).map(
          ({ notAfter }) => Date.parse(notAfter) / 1000,
        )
        return ends.length === 0 ? [] : [[{ host }, Math.min(...ends)] as const]
      }),
    )
    return reconciling(scene, {
      async reconcile(name) {
        const { certificates, conditions = [] } = known.get(name)?.status ?? {}
        // Its agent has not said anything yet.
        if (certificates === undefined) return undefined
        const time = now()
        const { condition, ask, next } = decideRenewal(certificates, time.getTime())
        if (!areSaid([condition], conditions)) {
          const { apiVersion, kind } = hostKind
          const status = { conditions: withTimes([condition], conditions, time) }
          const manager = 'hyperkube-certificate-renewal'
          await patchStatus(
            client,
            { apiVersion, kind, metadata: { name }, status },
            { force: true, manager },
          )
        }
        if (ask) {
          const id = `certificate-renewal.${time.toISOString().slice(0, 10)}`
          await askHost(scene, name, { id, ask: { type: 'renew-certificates' }, within: 12 * hour })
        }
        return { requeueAfter: Math.min(longest, Math.max(60_000, next - time.getTime())) }
      },
    })
  },
}
