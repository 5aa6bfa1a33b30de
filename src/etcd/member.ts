/** One member of an etcd cluster. */
export interface EtcdMember {
  /** Id in hex, as etcdctl shows it. */
  readonly id: string
  /** Host name from cluster.yml; empty until the member has started for the first time. */
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

/** What a member reports about itself. The report needs no quorum. */
export interface MemberStatus {
  readonly id: string
  readonly clusterId: string
  readonly version: string
  /** Id of the leader according to this member. */
  readonly leader: string | undefined
  readonly learner: boolean
  /** raftIndex is the last committed entry, raftAppliedIndex the last applied one. */
  readonly raftIndex: number
  readonly raftAppliedIndex: number
  readonly raftTerm: number
  /** Bytes on disk. sizeInUse and quota are in bytes too. */
  readonly size: number
  readonly sizeInUse: number
  readonly quota: number | undefined
  readonly errors: readonly string[]
}

export interface MemberHealth {
  /** True if the etcd process itself is healthy. */
  readonly live: boolean
  /** True if the member can serve requests: it is a voter, its data is intact, and it sees a quorum. */
  readonly ready: boolean
  /** Names of etcd's failing checks, for example linearizable_read or non_learner. */
  readonly failing: readonly string[]
  /** Why the member is not ready, for people. */
  readonly reason: string | undefined
}

/** Health by member id. A member without an entry is unhealthy. */
export type HealthByMember = ReadonlyMap<string, MemberHealth>

export interface Alarm {
  /** `unknownMember` if etcd does not know which member is damaged. */
  readonly memberId: string
  readonly alarm: 'NOSPACE' | 'CORRUPT'
}

/** Id in an alarm of etcd that belongs to no certain member. */
export const unknownMember = '0'

/** Number of keys, and the revision at which they were counted. */
export interface KeyCount {
  readonly revision: number
  readonly keys: number
}

/** State of all members at one time. Every change of the member list is checked against an observation. */
export interface EtcdObservation extends MemberList {
  /** True if a quorum confirmed the member list. Otherwise the list comes from a single member. */
  readonly confirmed: boolean
  readonly health: HealthByMember
  readonly statuses: ReadonlyMap<string, MemberStatus>
  readonly alarms: readonly Alarm[]
}

/** Converts a member id from the decimal string in JSON to hex. Uses BigInt, because ids have 64 bits. */
export function hexId(decimal: string): string {
  return BigInt(decimal).toString(16)
}

export function decimalId(hex: string): string {
  return BigInt(`0x${hex}`).toString()
}

/** Finds a member by its name or id. */
export function findMember({ members }: MemberList, name: string): EtcdMember | undefined {
  return members.find((member) => member.name === name) ?? members.find(({ id }) => id === name)
}

/** Returns the name of a member for messages: its host name, peer URL or id. */
export function formatMember({ name, peerUrls, id }: EtcdMember): string {
  return name || peerUrls[0] || id
}
