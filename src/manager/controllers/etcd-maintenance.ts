import type { HostEtcd, HostResult } from '../../contract/host-resource.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { Heartbeats } from '../heartbeats.ts'
import { hostRequestRules, requestHostAction } from '../host-requests.ts'
import { eventRules, hostWatch, isHostChanged, isReportingMember, toHostReference } from '../watch-specs.ts'

/**
 * Milliseconds between two checks. This is shorter than the gap that ends an event series, so repeated events
 * become one event with a count.
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
    // Hosts with an etcd member. All members share one queue key, because the decision for one member depends
    // on the others.
    const members = new Set<string>()
    known.listen((change) => {
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.observe(change.object)
      const isMember = change.type !== 'deleted' && isReportingMember(change.object)
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

type EtcdMaintenanceAction =
  | { readonly kind: 'report'; readonly host: string; readonly reason: string; readonly note: string }
  | { readonly kind: 'defragment'; readonly host: string; readonly id: string }

/** Minimum number of unused bytes. For less, a defragmentation is not worth the pause of the member. */
const minWasteBytes = 128 * 2 ** 20

/** Minimum share of the database that must be unused. */
const minWasteShare = 0.5

/**
 * Milliseconds from the first report of reclaimable space to the first defragmentation. Members report at
 * different times. Without the delay, a leader that reports first would be defragmented first, although it
 * must be last.
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
      buildReport(host, 'DefragmentationFailed', 'defragmentation of the etcd member failed'),
    )
  }
  // A member serves no requests while it is defragmented. So members are defragmented one after the other,
  // and the leader last.
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

/** True if all members are ready voters, send reports and agree on the leader. */
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
      ? buildReport(
          host,
          'EtcdNoSpace',
          `etcd member ${member} has no space left; check: hyperkube etcd status`,
        )
      : buildReport(host, 'EtcdCorrupt', `etcd member ${member} has corrupt data`)
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
        ? `the etcd member on ${title} does not serve requests`
        : `the agent of etcd member ${title} does not report; if the host is lost: hyperkube node replace ${title}`
    return [buildReport(host?.name ?? witness, 'EtcdMemberUnreachable', note)]
  })
}

function buildReport(host: string, reason: string, note: string): EtcdMaintenanceAction {
  return { kind: 'report', host, reason, note }
}
