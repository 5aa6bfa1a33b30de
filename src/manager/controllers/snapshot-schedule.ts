import type { HostEtcd, HostResult, HostSnapshot } from '../../contract/host-resource.ts'
import type { Retention } from '../../contract/manager-settings.ts'
import { nextOccurrence, parseCron, previousOccurrence } from '../../kit/cron.ts'
import { formatFileTimestamp, parseFileTimestamp } from '../../kit/time-format.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { Heartbeats } from '../heartbeats.ts'
import { hostRequestRules, requestHostAction } from '../host-requests.ts'
import { eventRules, hostWatch, isHostChanged, isReportingMember, toHostReference } from '../watch-specs.ts'

/** Longest time that a host may take to start a requested snapshot, in milliseconds. */
const maxStartTimeoutMs = 60 * 60_000

const checkIntervalMs = 5 * 60_000

export const snapshotSchedule: ControllerDefinition = {
  name: 'snapshot-schedule',
  aliases: ['snapshots'],
  summary: 'requests scheduled snapshots from etcd members, and deletes snapshots beyond the retention',
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
      if (change.type !== 'deleted' && isReportingMember(change.object)) members.add(change.key)
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

/** A host with an etcd member, as its agent reports it. */
export interface SnapshotHost {
  readonly name: string
  readonly etcd: HostEtcd
  readonly silent: boolean
  readonly openRequests: readonly string[]
  readonly results: readonly HostResult[]
  readonly snapshots: readonly HostSnapshot[]
}

interface DueSnapshot {
  /** The latest scheduled time that has passed. */
  readonly moment: Date
  readonly keep: Retention
}

type SnapshotAction =
  | {
      readonly kind: 'take'
      readonly host: string
      readonly id: string
      readonly name: string
      readonly remove: string[]
    }
  /** Reports that the snapshot does not exist and that every host has failed or cannot take it. */
  | { readonly kind: 'report'; readonly host: string; readonly note: string }
  | { readonly kind: 'nothing' }

/**
 * Selects the host that takes the scheduled snapshot. If the snapshot fails on one host, another host takes
 * it.
 */
export function decideSnapshot(
  hosts: readonly SnapshotHost[],
  { moment, keep }: DueSnapshot,
): SnapshotAction {
  const [id, name] = [formatSnapshotRequestId(moment), formatScheduledSnapshotName(moment)]
  const exists = hosts.some(({ snapshots }) => snapshots.some((one) => one.name === name && one.size > 0))
  if (exists || hosts.length === 0) return { kind: 'nothing' }
  const requested = hosts.find(({ openRequests }) => openRequests.includes(id))
  const failed = hosts.filter(({ results }) =>
    results.some((result) => result.id === id && hasFailed(result)),
  )
  const candidates = hosts.filter(
    (host) => host.etcd.ready && !host.etcd.learner && !host.silent && !failed.includes(host),
  )
  // If the requested host went silent, another host gets a request too, because two snapshots are better than
  // none.
  const next =
    requested !== undefined && !requested.silent ? requested : candidates.toSorted(comparePreference)[0]
  if (next !== undefined)
    return {
      kind: 'take',
      host: next.name,
      id,
      name,
      remove: findFilesToRemove(next, hosts, name, moment, keep),
    }
  const host = failed[0]?.name ?? hosts[0]?.name ?? ''
  const cause =
    failed.length > 0 ? `failed on ${failed.map((one) => one.name).join(', ')}` : 'no etcd member is healthy'
  return { kind: 'report', host, note: `the snapshot of ${moment.toISOString()} was not taken: ${cause}` }
}

/**
 * True if the host will not create this snapshot. Called only while the snapshot does not exist, so even the
 * outcome `done` is a failure.
 */
function hasFailed(result: HostResult): boolean {
  return result.outcome !== 'refused' || result.reason === 'late' || result.reason === 'unknown'
}

/**
 * Sorts followers before the leader. Among followers, the host whose newest snapshot is the oldest comes
 * first.
 */
function comparePreference(a: SnapshotHost, b: SnapshotHost): number {
  const leads = ({ etcd }: SnapshotHost): number => Number(etcd.leader === etcd.id)
  const newest = ({ snapshots }: SnapshotHost): number =>
    Math.max(0, ...snapshots.map(({ takenAt }) => Date.parse(takenAt)))
  return leads(a) - leads(b) || newest(a) - newest(b) || (a.name < b.name ? -1 : 1)
}

/**
 * Formats the request id. Every leader gets the same id for a scheduled time, so a new leader does not repeat
 * the request.
 */
export function formatSnapshotRequestId(moment: Date): string {
  return `snapshot-schedule.${moment
    .toISOString()
    .slice(0, 16)
    .replaceAll(/[^\dT]/g, '')
    .toLowerCase()}`
}

/**
 * Lists snapshot files of a host that can be removed once the new snapshot exists. The retention counts the
 * snapshots of all members. A file name with a time after the new snapshot is wrong and does not count.
 * Otherwise every real snapshot would seem too old to keep.
 */
function findFilesToRemove(
  host: SnapshotHost,
  all: readonly SnapshotHost[],
  name: string,
  moment: Date,
  keep: Retention,
): string[] {
  const known = all.flatMap(({ name: owner, snapshots }) =>
    snapshots.flatMap((one) => {
      const takenAt = parseScheduledSnapshotTime(one.name)
      return takenAt === undefined || takenAt > moment.getTime() ? [] : [{ owner, name: one.name, takenAt }]
    }),
  )
  const next = { owner: host.name, name, takenAt: moment.getTime() }
  return findExpiredSnapshots([...known, next], keep)
    .filter((one) => one.owner === host.name && one.name !== name)
    .map((one) => one.name)
    .slice(0, 100)
}

interface ScheduledSnapshot {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly takenAt: number
}

const hourMs = 3_600_000

const dayMs = 24 * hourMs

/** Milliseconds from 1 January 1970, a Thursday, to the following Monday. */
const mondayOffset = 4 * dayMs

/**
 * Returns the snapshots that the retention does not keep, oldest first. The retention keeps the newest
 * snapshot of each of the last hours, days and weeks that have a snapshot. The newest snapshot of all is
 * always kept.
 */
export function findExpiredSnapshots<T extends ScheduledSnapshot>(
  all: readonly T[],
  { hourly, daily, weekly }: Retention,
): T[] {
  const newestFirst = all.toSorted((a, b) => b.takenAt - a.takenAt)
  const retained = new Set<T>(newestFirst.slice(0, 1))
  const retainNewest = (max: number, toSpan: (takenAt: number) => number): void => {
    const spans = new Set<number>()
    for (const one of newestFirst) {
      const span = toSpan(one.takenAt)
      if (spans.size >= max || spans.has(span)) continue
      spans.add(span)
      retained.add(one)
    }
  }
  retainNewest(hourly, (takenAt) => Math.floor(takenAt / hourMs))
  retainNewest(daily, (takenAt) => Math.floor(takenAt / dayMs))
  retainNewest(weekly, (takenAt) => Math.floor((takenAt + mondayOffset - dayMs) / (7 * dayMs)))
  return newestFirst.filter((one) => !retained.has(one)).toReversed()
}

/**
 * Formats the file name of a scheduled snapshot, for example etcd-2026-11-16T08-00-00Z.db. Files with other
 * names were created by operators and are never removed.
 */
export function formatScheduledSnapshotName(moment: Date): string {
  return `etcd-${formatFileTimestamp(moment)}.db`
}

/**
 * Parses the scheduled time, in milliseconds since 1970, from a snapshot's file name. Returns undefined for
 * other file names.
 */
export function parseScheduledSnapshotTime(name: string): number | undefined {
  return parseFileTimestamp(/^etcd-(.*)\.db$/.exec(name)?.[1] ?? '')?.getTime()
}
