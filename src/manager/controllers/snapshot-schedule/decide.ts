import type { HostEtcd, HostResult, HostSnapshot } from '../../../contract/host-resource.ts'
import type { Retention } from '../../../contract/manager-settings.ts'
import { parseScheduledSnapshotTime, formatScheduledSnapshotName, findExpiredSnapshots } from './retention.ts'

/** A host with an etcd member, as its agent reports it. */
export interface SnapshotHost {
  readonly name: string
  readonly etcd: HostEtcd
  readonly silent: boolean
  readonly openRequests: readonly string[]
  readonly results: readonly HostResult[]
  readonly snapshots: readonly HostSnapshot[]
}

export interface DueSnapshot {
  /** The latest scheduled time that has passed. */
  readonly moment: Date
  readonly keep: Retention
}

export type SnapshotAction =
  | {
      readonly kind: 'take'
      readonly host: string
      readonly id: string
      readonly name: string
      readonly remove: string[]
    }
  /** No host could take the snapshot. */
  | { readonly kind: 'report'; readonly host: string; readonly note: string }
  | { readonly kind: 'nothing' }

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

/** Selects the host that takes the scheduled snapshot. If it fails on one host, another host takes it. */
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
  // If the requested host went silent, another host is requested too, because two snapshots are better than
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
    failed.length > 0
      ? `it failed on ${failed.map((one) => one.name).join(', ')}`
      : 'no etcd member is healthy'
  return { kind: 'report', host, note: `there is no snapshot of ${moment.toISOString()}: ${cause}` }
}

/**
 * True if the host will not create this snapshot. Called only while the snapshot does not exist, so even the
 * outcome `done` is a failure.
 */
function hasFailed(result: HostResult): boolean {
  return result.outcome !== 'refused' || result.reason === 'late' || result.reason === 'unknown'
}

/** Sorts followers before the leader, and then hosts with the oldest latest snapshot first. */
function comparePreference(a: SnapshotHost, b: SnapshotHost): number {
  const leads = ({ etcd }: SnapshotHost): number => Number(etcd.leader === etcd.id)
  const newest = ({ snapshots }: SnapshotHost): number =>
    Math.max(0, ...snapshots.map(({ takenAt }) => Date.parse(takenAt)))
  return leads(a) - leads(b) || newest(a) - newest(b) || (a.name < b.name ? -1 : 1)
}

/**
 * Lists snapshot files of a host that can be removed once the new snapshot exists. The retention counts the
 * snapshots of all hosts.
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
      return takenAt === undefined ? [] : [{ owner, name: one.name, takenAt }]
    }),
  )
  const next = { owner: host.name, name, takenAt: moment.getTime() }
  return findExpiredSnapshots([...known, next], keep)
    .filter((one) => one.owner === host.name && one.name !== name)
    .map((one) => one.name)
    .slice(0, 100)
}
