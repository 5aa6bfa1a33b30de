import type { HostEtcd, HostResult, HostSnapshot } from '../../../contract/host-resource.ts'
import type { Retention } from '../../../contract/manager-settings.ts'
import { momentOf, nameFor, superfluous } from './retention.ts'

/** A host with a member of etcd, as its agent sees it. */
export interface SnapshotHost {
  readonly name: string
  readonly etcd: HostEtcd
  readonly silent: boolean
  readonly open: readonly string[]
  readonly results: readonly HostResult[]
  readonly snapshots: readonly HostSnapshot[]
}

export interface Due {
  /** The last moment of the schedule. */
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
  /** Nobody could take it. */
  | { readonly kind: 'report'; readonly host: string; readonly note: string }
  | { readonly kind: 'nothing' }

/** The same for the same moment, whoever leads. */
export function idFor(moment: Date): string {
  return `snapshot-schedule.${moment
    .toISOString()
    .slice(0, 16)
    .replaceAll(/[^\dT]/g, '')
    .toLowerCase()}`
}

/** Who takes the snapshot of a moment. One that failed at one host is taken at another. */
export function decideSnapshot(hosts: readonly SnapshotHost[], { moment, keep }: Due): SnapshotAction {
  const [id, name] = [idFor(moment), nameFor(moment)]
  const has = hosts.some(({ snapshots }) => snapshots.some((one) => one.name === name && one.size > 0))
  if (has || hosts.length === 0) return { kind: 'nothing' }
  const under = hosts.find(({ open }) => open.includes(id))
  const failed = hosts.filter(({ results }) =>
    results.some((result) => result.id === id && hasFailed(result)),
  )
  const able = hosts.filter(
    (host) => host.etcd.ready && !host.etcd.learner && !host.silent && !failed.includes(host),
  )
  // What was asked of a host that went silent since is asked of another one, too: two are better than none.
  const next = under !== undefined && !under.silent ? under : able.toSorted(best)[0]
  if (next !== undefined)
    return { kind: 'take', host: next.name, id, name, remove: removedOn(next, hosts, name, moment, keep) }
  const host = failed[0]?.name ?? hosts[0]?.name ?? ''
  const whose =
    failed.length > 0
      ? `it failed on ${failed.map((one) => one.name).join(', ')}`
      : 'no member of etcd is well'
  return { kind: 'report', host, note: `there is no snapshot of ${moment.toISOString()}: ${whose}` }
}

/** What was done without being there afterwards has failed as well. Refused as late or unknown, it will not be done. */
function hasFailed(result: HostResult): boolean {
  return result.outcome !== 'refused' || result.reason === 'late' || result.reason === 'unknown'
}

/** Better not the leader, which has work enough; then whoever has not had one for the longest. */
function best(a: SnapshotHost, b: SnapshotHost): number {
  const leads = ({ etcd }: SnapshotHost): number => Number(etcd.leader === etcd.id)
  const newest = ({ snapshots }: SnapshotHost): number =>
    Math.max(0, ...snapshots.map(({ taken }) => Date.parse(taken)))
  return leads(a) - leads(b) || newest(a) - newest(b) || (a.name < b.name ? -1 : 1)
}

/** Of all that there are on any host, those of this one that nothing keeps once the new one is there. */
function removedOn(
  host: SnapshotHost,
  all: readonly SnapshotHost[],
  name: string,
  moment: Date,
  keep: Retention,
): string[] {
  const known = all.flatMap(({ name: owner, snapshots }) =>
    snapshots.flatMap((one) => {
      const taken = momentOf(one.name)
      return taken === undefined ? [] : [{ owner, name: one.name, taken }]
    }),
  )
  const next = { owner: host.name, name, taken: moment.getTime() }
  return superfluous([...known, next], keep)
    .filter((one) => one.owner === host.name && one.name !== name)
    .map((one) => one.name)
    .slice(0, 100)
}
