import type { ControllerDefinition } from '../../controller.ts'
import { Heartbeats } from '../../heartbeats.ts'
import { requestHostAction, hostRequestRules } from '../../host-requests.ts'
import { createReconciler } from '../../reconciler.ts'
import { eventRules, toHostReference, hostWatch, isHostChanged } from '../../watch-specs.ts'
import { previousOccurrence, nextOccurrence, parseCron } from '../../../kit/cron.ts'
import { decideSnapshot, type SnapshotHost } from './decide.ts'

/** Maximum number of milliseconds that a host has to start a snapshot. */
const maxStartTimeoutMs = 60 * 60_000
const checkIntervalMs = 5 * 60_000

export const snapshotSchedule: ControllerDefinition = {
  name: 'snapshot-schedule',
  aliases: ['snapshots'],
  summary: 'has etcd members take snapshots on schedule, and remove those that the retention does not keep',
  byDefault: true,
  watches: [hostWatch],
  rules: [...hostRequestRules, ...eventRules],
  build(context) {
    const { queue, events, now, settings } = context
    const known = context.getInformer(hostWatch)
    const heartbeats = new Heartbeats(context)
    const members = new Set<string>()
    const schedule = settings.snapshots
    const cron = schedule === undefined ? undefined : parseCron(schedule.schedule)
    known.listen((change) => {
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.observe(change.object)
      if (change.type !== 'deleted' && change.object.status.etcd !== undefined) members.add(change.key)
      else members.delete(change.key)
      if (cron !== undefined && members.has(change.key) && isHostChanged(change)) queue.add(queueKey)
    })
    if (cron !== undefined) queue.add(queueKey)
    const readHosts = (): SnapshotHost[] =>
      [...members].flatMap((name) => {
        const { openRequests = [], status } = known.get(name) ?? {}
        if (status?.etcd === undefined) return []
        const { etcd, results = [], snapshots = [] } = status
        return [{ name, etcd, openRequests, results, snapshots, silent: heartbeats.isSilent(name) }]
      })
    return createReconciler(context, {
      async reconcile() {
        const moment = cron && previousOccurrence(cron, now())
        if (cron === undefined || schedule === undefined || moment === undefined) return undefined
        const remainingMs = (nextOccurrence(cron, now())?.getTime() ?? Infinity) - now().getTime()
        const action = decideSnapshot(readHosts(), { moment, keep: schedule.keep })
        if (action.kind === 'take') {
          const { host, id, name, remove } = action
          await requestHostAction(context, host, {
            ...{ id, action: { type: 'take-snapshot', name, remove } },
            startTimeoutMs: Math.min(maxStartTimeoutMs, remainingMs),
          })
        }
        if (action.kind === 'report') {
          const regarding = toHostReference(known.get(action.host) ?? { name: action.host, uid: undefined })
          const note = {
            type: 'Warning',
            reason: 'SnapshotMissing',
            action: 'TakeSnapshot',
            note: action.note,
          } as const
          await events.record(regarding, note)
        }
        return {
          requeueAfter: action.kind === 'nothing' ? remainingMs : Math.min(remainingMs, checkIntervalMs),
        }
      },
    })
  },
}

/** The queue key of the snapshot that is due. */
const queueKey = 'due'
