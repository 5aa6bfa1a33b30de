import type { ControllerDefinition } from '../../controller.ts'
import { Heartbeats } from '../../heartbeats.ts'
import { requestHostAction, hostRequestRules } from '../../host-requests.ts'
import { createReconciler } from '../../reconciler.ts'
import { eventRules, toHostReference, hostWatch, isHostChanged } from '../../watch-specs.ts'
import { decideEtcd, type EtcdHost, hasReclaimableSpace, wasteReportDelayMs } from './decide.ts'

/**
 * Milliseconds between two checks. It is shorter than the series gap of events, so repeated events become one
 * event with a count.
 */
const checkIntervalMs = 5 * 60_000
const startTimeoutMs = 30 * 60_000

export const etcdMaintenance: ControllerDefinition = {
  name: 'etcd-maintenance',
  aliases: ['etcd'],
  summary:
    'reports etcd members that are unreachable or out of space, and defragments members one after the other',
  byDefault: true,
  watches: [hostWatch],
  rules: [...hostRequestRules, ...eventRules],
  build(context) {
    const { queue, events, now } = context
    const known = context.getInformer(hostWatch)
    const heartbeats = new Heartbeats(context)
    // All members share one queue key, because the decision for one member depends on the others.
    const members = new Set<string>()
    known.listen((change) => {
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.observe(change.object)
      const isMember = change.type !== 'deleted' && change.object.status.etcd !== undefined
      if (isMember) members.add(change.key)
      if (members.has(change.key) && isHostChanged(change)) queue.add(queueKey)
      if (!isMember) members.delete(change.key)
    })
    queue.add(queueKey)
    const readHosts = (): EtcdHost[] =>
      [...members].flatMap((name) => {
        const { openRequests = [], status } = known.get(name) ?? {}
        if (status?.etcd === undefined) return []
        return [
          {
            name,
            openRequests,
            etcd: status.etcd,
            results: status.results ?? [],
            silent: heartbeats.isSilent(name),
          },
        ]
      })
    let reclaimableSince: number | undefined
    return createReconciler(context, {
      async reconcile() {
        const [all, time] = [readHosts(), now().getTime()]
        reclaimableSince = hasReclaimableSpace(all, time) ? (reclaimableSince ?? time) : undefined
        for (const action of decideEtcd(all, time, reclaimableSince)) {
          const { host } = action
          if (action.kind === 'defragment') {
            await requestHostAction(context, host, {
              id: action.id,
              action: { type: 'defragment-etcd' },
              startTimeoutMs,
            })
          } else {
            const { reason, note } = action
            const regarding = toHostReference(known.get(host) ?? { name: host, uid: undefined })
            await events.record(regarding, { type: 'Warning', reason, action: 'CheckEtcd', note })
          }
        }
        return { requeueAfter: reclaimableSince === undefined ? checkIntervalMs : wasteReportDelayMs }
      },
    })
  },
}

/** The queue key that all members share. */
const queueKey = 'etcd'
