import type { ControllerRow } from '../../controller.ts'
import { Heartbeats } from '../../heartbeats.ts'
import { askHost, askRights } from '../../host-requests.ts'
import { reconciling } from '../../reconciler.ts'
import { eventRights, hostObject, hosts, isNews } from '../../watch-specs.ts'
import { decideEtcd, type EtcdHost, isWasteful, untilAllTell } from './decide.ts'

/** In milliseconds. What is said again soon enough is one event with a count. */
const looksEvery = 5 * 60_000
const within = 30 * 60_000

export const etcdKeeper: ControllerRow = {
  name: 'etcd-keeper',
  aliases: ['etcd'],
  summary:
    'says when members of etcd are away or out of space, and has them give back space, one after the other',
  byDefault: true,
  watches: [hosts],
  rights: [...askRights, ...eventRights],
  build(scene) {
    const { queue, events, now } = scene
    const known = scene.informer(hosts)
    const heartbeats = new Heartbeats(scene)
    // It is all or nothing: what one member may do depends on the others.
    const members = new Set<string>()
    known.listen((change) => {
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.hear(change.object)
      const isMember = change.type !== 'deleted' && change.object.status.etcd !== undefined
      if (isMember) members.add(change.key)
      if (members.has(change.key) && isNews(change)) queue.add(etcd)
      if (!isMember) members.delete(change.key)
    })
    queue.add(etcd)
    const look = (): EtcdHost[] =>
      [...members].flatMap((name) => {
        const { open = [], status } = known.get(name) ?? {}
        if (status?.etcd === undefined) return []
        return [
          { name, open, etcd: status.etcd, results: status.results ?? [], silent: heartbeats.isSilent(name) },
        ]
      })
    let wastefulSince: number | undefined
    return reconciling(scene, {
      async reconcile() {
        const [all, time] = [look(), now().getTime()]
        wastefulSince = isWasteful(all, time) ? (wastefulSince ?? time) : undefined
        for (const action of decideEtcd(all, time, wastefulSince)) {
          const { host } = action
          if (action.kind === 'defragment') {
            await askHost(scene, host, { id: action.id, ask: { type: 'defragment-etcd' }, within })
          } else {
            const { reason, note } = action
            const regarding = hostObject(known.get(host) ?? { name: host, uid: undefined })
            await events.record(regarding, { type: 'Warning', reason, action: 'LookAtEtcd', note })
          }
        }
        return { requeueAfter: wastefulSince === undefined ? looksEvery : untilAllTell }
      },
    })
  },
}

/** Stands in the queue for all members. */
const etcd = 'etcd'
