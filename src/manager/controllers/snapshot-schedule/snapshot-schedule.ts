import type { ControllerRow } from '../../controller.ts'
import { Heartbeats } from '../../heartbeats.ts'
import { askHost, askRights } from '../../host-requests.ts'
import { reconciling } from '../../reconciler.ts'
import { eventRights, hostObject, hosts, isNews } from '../../watch-specs.ts'
import { lastMoment, nextMoment, parseCron } from '../../../kit/cron.ts'
import { decideSnapshot, type SnapshotHost } from './decide.ts'

/** In milliseconds. */
const within = 60 * 60_000
const looksEvery = 5 * 60_000

export const snapshotSchedule: ControllerRow = {
  name: 'snapshot-schedule',
  aliases: ['snapshots'],
  summary: 'has members of etcd keep snapshots when they are due, and remove those that nothing keeps',
  byDefault: true,
  watches: [hosts],
  rights: [...askRights, ...eventRights],
  build(scene) {
    const { queue, events, now, settings } = scene
    const known = scene.informer(hosts)
    const heartbeats = new Heartbeats(scene)
    const members = new Set<string>()
    const wish = settings.snapshots
    const cron = wish === undefined ? undefined : parseCron(wish.schedule)
    known.listen((change) => {
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.hear(change.object)
      if (change.type !== 'deleted' && change.object.status.etcd !== undefined) members.add(change.key)
      else members.delete(change.key)
      if (cron !== undefined && members.has(change.key) && isNews(change)) queue.add(due)
    })
    if (cron !== undefined) queue.add(due)
    const look = (): SnapshotHost[] =>
      [...members].flatMap((name) => {
        const { open = [], status } = known.get(name) ?? {}
        if (status?.etcd === undefined) return []
        const { etcd, results = [], snapshots = [] } = status
        return [{ name, etcd, open, results, snapshots, silent: heartbeats.isSilent(name) }]
      })
    return reconciling(scene, {
      async reconcile() {
        const moment = cron && lastMoment(cron, now())
        if (cron === undefined || wish === undefined || moment === undefined) return undefined
        const left = (nextMoment(cron, now())?.getTime() ?? Infinity) - now().getTime()
        const action = decideSnapshot(look(), { moment, keep: wish.keep })
        if (action.kind === 'take') {
          const { host, id, name, remove } = action
          await askHost(scene, host, {
            ...{ id, ask: { type: 'take-snapshot', name, remove } },
            within: Math.min(within, left),
          })
        }
        if (action.kind === 'report') {
          const regarding = hostObject(known.get(action.host) ?? { name: action.host, uid: undefined })
          const note = {
            type: 'Warning',
            reason: 'SnapshotMissing',
            action: 'TakeSnapshot',
            note: action.note,
          } as const
          await events.record(regarding, note)
        }
        return { requeueAfter: action.kind === 'nothing' ? left : Math.min(left, looksEvery) }
      },
    })
  },
}

/** Stands in the queue for the snapshot that is due. */
const due = 'due'
