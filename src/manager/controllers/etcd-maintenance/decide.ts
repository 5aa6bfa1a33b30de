import type { HostEtcd, HostResult } from '../../../contract/host-resource.ts'

/** A host with an etcd member, as its agent reports it. */
export interface EtcdHost {
  readonly name: string
  readonly etcd: HostEtcd
  /** True if the agent has not reported for a while, so its data is old. */
  readonly silent: boolean
  /** Ids of requests to the host that have no result yet. */
  readonly openRequests: readonly string[]
  readonly results: readonly HostResult[]
}

export type EtcdMaintenanceAction =
  | { readonly kind: 'report'; readonly host: string; readonly reason: string; readonly note: string }
  | { readonly kind: 'defragment'; readonly host: string; readonly id: string }

/** Minimum number of unused bytes. For less, a defragmentation is not worth the pause of the member. */
const minWasteBytes = 128 * 2 ** 20
/** Minimum share of the database that must be unused. */
const minWasteShare = 0.5
/**
 * Milliseconds to wait until all members have reported reclaimable space. They report at different times, and
 * the leader, which must be last, may report first.
 */
export const wasteReportDelayMs = 60_000
/** Window length in milliseconds. A member gets at most one request per window. */
const requestWindowMs = 6 * 3_600_000

const prefix = 'etcd-maintenance.defragment'

/** True if a member has reclaimable space and was not defragmented in the current window. */
export function hasReclaimableSpace(hosts: readonly EtcdHost[], now: number): boolean {
  return hosts.some((host) => needsDefragmentation(host, formatRequestId(now)))
}

/**
 * Reports etcd problems. Without problems, selects the next member to defragment if space has been
 * reclaimable long enough.
 */
export function decideEtcd(
  hosts: readonly EtcdHost[],
  now: number,
  reclaimableSince = now,
): EtcdMaintenanceAction[] {
  const reports = [...reportAlarms(hosts), ...reportUnreachableMembers(hosts)]
  if (reports.length > 0 || !isStable(hosts)) return reports
  const id = formatRequestId(now)
  const failed = hosts.flatMap(({ name, results }) =>
    results.some((result) => result.id === id && result.outcome !== 'done' && result.outcome !== 'refused')
      ? [name]
      : [],
  )
  if (failed.length > 0) {
    return failed.map((host) =>
      buildReport(host, 'DefragmentationFailed', 'the defragmentation of its etcd member failed'),
    )
  }
  // Members are defragmented one after the other and the leader last, because a member serves no requests
  // meanwhile.
  if (hosts.some(({ openRequests }) => openRequests.some((one) => one.startsWith(prefix) && one !== id)))
    return []
  const requested = hosts.find(({ openRequests }) => openRequests.includes(id))
  const age = now - reclaimableSince
  // A negative age means that the clock was set back, so the delay is skipped.
  if (requested === undefined && age >= 0 && age < wasteReportDelayMs) return []
  const next =
    requested ?? hosts.filter((host) => needsDefragmentation(host, id)).toSorted(compareLeaderLast)[0]
  return next === undefined ? [] : [{ kind: 'defragment', host: next.name, id }]
}

function formatRequestId(now: number): string {
  return `${prefix}.${Math.floor(now / requestWindowMs)}`
}

function needsDefragmentation({ etcd, results }: EtcdHost, id: string): boolean {
  return isWorthwhile(etcd) && !results.some((result) => result.id === id && result.outcome === 'done')
}

function isWorthwhile({ size, inUse }: HostEtcd): boolean {
  return size - inUse >= minWasteBytes && (size - inUse) / size >= minWasteShare
}

function compareLeaderLast(a: EtcdHost, b: EtcdHost): number {
  const leads = ({ etcd }: EtcdHost): number => Number(etcd.leader === etcd.id)
  return leads(a) - leads(b) || (a.name < b.name ? -1 : 1)
}

/** True if all members are ready voters, report and agree on the leader. */
function isStable(hosts: readonly EtcdHost[]): boolean {
  const leaders = new Set(hosts.map(({ etcd }) => etcd.leader))
  return (
    hosts.every(({ etcd, silent }) => etcd.ready && !etcd.learner && !silent) &&
    leaders.size === 1 &&
    !leaders.has(undefined)
  )
}

/**
 * Reports etcd alarms. During an alarm etcd rejects writes, so requests to hosts are impossible and an
 * operator must act.
 */
function reportAlarms(hosts: readonly EtcdHost[]): EtcdMaintenanceAction[] {
  const alarms = new Map(
    hosts.flatMap(({ etcd }) => etcd.alarms.map((one) => [`${one.member} ${one.alarm}`, one])),
  )
  return [...alarms.values()].map(({ member, alarm }) => {
    const host = hosts.find(({ etcd }) => etcd.id === member)?.name ?? hosts[0]?.name ?? ''
    return alarm === 'NOSPACE'
      ? buildReport(host, 'EtcdNoSpace', `member ${member} of etcd has no space left: hyperkube etcd status`)
      : buildReport(host, 'EtcdCorrupt', `member ${member} of etcd has corrupt data`)
  })
}

/** Reports members that are in the member list but are not ready or do not report. */
function reportUnreachableMembers(hosts: readonly EtcdHost[]): EtcdMaintenanceAction[] {
  const known = new Map(
    hosts
      .filter(({ etcd }) => etcd.ready)
      .flatMap(({ etcd }) => etcd.members.map((member) => [member.id, member])),
  )
  const witness = hosts.find(({ etcd, silent }) => etcd.ready && !silent)?.name ?? hosts[0]?.name ?? ''
  return [...known.values()].flatMap(({ id, name }) => {
    const host = hosts.find(({ etcd }) => etcd.id === id)
    if (host !== undefined && host.etcd.ready && !host.silent) return []
    const title = name === '' ? id : name
    const note =
      host?.etcd.ready === false
        ? `the etcd member on ${title} does not serve`
        : `the etcd member on ${title} does not report; if it is lost for good: hyperkube node replace ${title}`
    return [buildReport(host?.name ?? witness, 'EtcdMemberUnreachable', note)]
  })
}

function buildReport(host: string, reason: string, note: string): EtcdMaintenanceAction {
  return { kind: 'report', host, reason, note }
}
