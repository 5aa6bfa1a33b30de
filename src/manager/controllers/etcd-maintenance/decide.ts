import type { HostEtcd, HostResult } from '../../../contract/host-resource.ts'

/** A host with a member of etcd, as its agent sees it. */
export interface EtcdHost {
  readonly name: string
  readonly etcd: HostEtcd
  /** Nothing was heard of its agent for a while: what it said is old. */
  readonly silent: boolean
  /** Ids of what it has not answered. */
  readonly open: readonly string[]
  readonly results: readonly HostResult[]
}

export type EtcdAction =
  | { readonly kind: 'report'; readonly host: string; readonly reason: string; readonly note: string }
  | { readonly kind: 'defragment'; readonly host: string; readonly id: string }

/** In bytes. Less is not worth a pause of a member. */
const leastWaste = 128 * 2 ** 20
/** Of a database, at least so much must be unused. */
const leastShare = 0.5
/**
 * In milliseconds: until every member has told of waste that all of them have. Each tells of it in its own time, and whoever
 * leads may be the first.
 */
export const untilAllTell = 60_000
/** In milliseconds: within it a member is asked once. */
const span = 6 * 3_600_000

const prefix = 'etcd-keeper.defragment'

/** Whether somebody could give back space, and was not asked to of late. */
export function isWasteful(hosts: readonly EtcdHost[], now: number): boolean {
  return hosts.some((host) => canGive(host, idAt(now)))
}

/** What is wrong with etcd, and what to do about space that it does not give back, and has not since then. */
export function decideEtcd(hosts: readonly EtcdHost[], now: number, wastefulSince = now): EtcdAction[] {
  const reports = [...alarmsOf(hosts), ...deadOf(hosts)]
  if (reports.length > 0 || !isSteady(hosts)) return reports
  const id = idAt(now)
  const failed = hosts.flatMap(({ name, results }) =>
    results.some((result) => result.id === id && result.outcome !== 'done' && result.outcome !== 'refused')
      ? [name]
      : [],
  )
  if (failed.length > 0) {
    return failed.map((host) =>
      report(host, 'DefragmentationFailed', 'its member of etcd did not give back its space'),
    )
  }
  // One after the other, and whoever leads comes last: while a member gives back space, it answers nobody.
  if (hosts.some(({ open }) => open.some((one) => one.startsWith(prefix) && one !== id))) return []
  const under = hosts.find(({ open }) => open.includes(id))
  const age = now - wastefulSince
  // Also where the clock was set back since.
  if (under === undefined && age >= 0 && age < untilAllTell) return []
  const next = under ?? hosts.filter((host) => canGive(host, id)).toSorted(leaderLast)[0]
  return next === undefined ? [] : [{ kind: 'defragment', host: next.name, id }]
}

function idAt(now: number): string {
  return `${prefix}.${Math.floor(now / span)}`
}

function canGive({ etcd, results }: EtcdHost, id: string): boolean {
  return pays(etcd) && !results.some((result) => result.id === id && result.outcome === 'done')
}

function pays({ size, inUse }: HostEtcd): boolean {
  return size - inUse >= leastWaste && (size - inUse) / size >= leastShare
}

function leaderLast(a: EtcdHost, b: EtcdHost): number {
  const leads = ({ etcd }: EtcdHost): number => Number(etcd.leader === etcd.id)
  return leads(a) - leads(b) || (a.name < b.name ? -1 : 1)
}

/** Whether all that vote are there, hear each other and agree who leads. */
function isSteady(hosts: readonly EtcdHost[]): boolean {
  const leaders = new Set(hosts.map(({ etcd }) => etcd.leader))
  return (
    hosts.every(({ etcd, silent }) => etcd.ready && !etcd.learner && !silent) &&
    leaders.size === 1 &&
    !leaders.has(undefined)
  )
}

/** While there is one, etcd takes no writes, and nobody can ask a host for anything: a person is needed. */
function alarmsOf(hosts: readonly EtcdHost[]): EtcdAction[] {
  const alarms = new Map(
    hosts.flatMap(({ etcd }) => etcd.alarms.map((one) => [`${one.member} ${one.alarm}`, one])),
  )
  return [...alarms.values()].map(({ member, alarm }) => {
    const host = hosts.find(({ etcd }) => etcd.id === member)?.name ?? hosts[0]?.name ?? ''
    return alarm === 'NOSPACE'
      ? report(host, 'EtcdNoSpace', `member ${member} of etcd has no space left: hyperkube etcd status`)
      : report(host, 'EtcdCorrupt', `member ${member} of etcd knows something else than the others`)
  })
}

/** Members that the others know, and that nobody has heard of. */
function deadOf(hosts: readonly EtcdHost[]): EtcdAction[] {
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
        ? `the member of etcd on ${title} does not serve`
        : `nothing is heard of the member of etcd on ${title}; if it is lost for good: hyperkube node replace ${title}`
    return [report(host?.name ?? witness, 'EtcdMemberAway', note)]
  })
}

function report(host: string, reason: string, note: string): EtcdAction {
  return { kind: 'report', host, reason, note }
}
