/** One member of an etcd cluster. */
export interface EtcdMember {
  /** In hex, as etcdctl shows it. */
  readonly id: string
  /** Host name in our plans; empty until the member has started for the first time. */
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly clientUrls: readonly string[]
  /** True while the member does not vote yet. */
  readonly learner: boolean
}

export interface MemberList {
  readonly clusterId: string
  readonly members: readonly EtcdMember[]
}

/** What a member reports about itself, without needing its peers. */
export interface MemberStatus {
  readonly id: string
  readonly clusterId: string
  readonly version: string
  /** The leader, as far as this member knows. */
  readonly leader: string | undefined
  readonly learner: boolean
  /** Index of the last committed entry and of the last applied one. */
  readonly raftIndex: number
  readonly raftAppliedIndex: number
  readonly raftTerm: number
  /** Bytes on disk, bytes in use, and the quota. */
  readonly size: number
  readonly sizeInUse: number
  readonly quota: number | undefined
  readonly errors: readonly string[]
}

export interface MemberHealth {
  /** The process itself is healthy. */
  readonly live: boolean
  /** The member can serve requests: it votes, its data is intact, and it sees a quorum. */
  readonly ready: boolean
  /** Names of failing checks in etcd: linearizable_read, non_learner. */
  readonly failing: readonly string[]
  /** For people, if the member is not ready. */
  readonly reason: string | undefined
}

/** Health by member id. A missing member is unhealthy. */
export type HealthByMember = ReadonlyMap<string, MemberHealth>

export interface Alarm {
  readonly memberId: string
  readonly alarm: 'NOSPACE' | 'CORRUPT'
}

/** Number of keys and the revision it was read at. */
export interface KeyCount {
  readonly revision: number
  readonly keys: number
}

/** All members at one time. Every change requires an observation. */
export interface EtcdObservation extends MemberList {
  /** True if a quorum confirmed the member list. Otherwise it is what one member knows. */
  readonly confirmed: boolean
  readonly health: HealthByMember
  readonly statuses: ReadonlyMap<string, MemberStatus>
  readonly alarms: readonly Alarm[]
}

/** Ids have 64 bits, more than a JavaScript number holds. On the wire they are decimal strings. */
export function hexId(decimal: string): string {
  return BigInt(decimal).toString(16)
}

export function decimalId(hex: string): string {
  return BigInt(`0x${hex}`).toString()
}

/** Finds a member by host name or id. */
export function findMember({ members }: MemberList, name: string): EtcdMember | undefined {
  return members.find((member) => member.name === name) ?? members.find(({ id }) => id === name)
}

/** Name of a member for messages. */
export function formatMember({ name, peerUrls, id }: EtcdMember): string {
  return name || peerUrls[0] || id
}
