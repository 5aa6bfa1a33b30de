/** One of those who keep the cluster's memory. */
export interface Member {
  /** In hex, as etcdctl shows it. */
  readonly id: string
  /** The host's name in our plans; empty until the member has started for the first time. */
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly clientUrls: readonly string[]
  /** It learns, and does not vote yet. */
  readonly learner: boolean
}

export interface MemberList {
  readonly clusterId: string
  readonly members: readonly Member[]
}

/** What a member says of itself. It needs nobody else for that. */
export interface MemberStatus {
  readonly id: string
  readonly clusterId: string
  readonly version: string
  /** Who leads, as far as it knows. */
  readonly leader: string | undefined
  readonly learner: boolean
  /** The last entry of which it knows that it is settled, and the last that it has made its own. */
  readonly raftIndex: number
  readonly raftAppliedIndex: number
  readonly raftTerm: number
  /** Bytes on disk, of those in use, and allowed. */
  readonly size: number
  readonly sizeInUse: number
  readonly quota: number | undefined
  readonly errors: readonly string[]
}

export interface MemberHealth {
  /** The process itself is well. */
  readonly live: boolean
  /** It can serve: it votes, it is whole, and it hears a quorum. */
  readonly ready: boolean
  /** The checks that fail, as etcd calls them: linearizable_read, non_learner. */
  readonly failing: readonly string[]
  /** In words, when it is not ready. */
  readonly reason: string | undefined
}

/** Health by a member's id. Who is missing is not well. */
export type Health = ReadonlyMap<string, MemberHealth>

export interface Alarm {
  readonly memberId: string
  readonly alarm: 'NOSPACE' | 'CORRUPT'
}

/** How many keys there are, and as of which revision. */
export interface KeyCount {
  readonly revision: number
  readonly keys: number
}

/** All members at one time. Only who has one may change anything. */
export interface Observation extends MemberList {
  /** A quorum stands behind the list. Without one it is what some member remembers. */
  readonly confirmed: boolean
  readonly health: Health
  readonly statuses: ReadonlyMap<string, MemberStatus>
  readonly alarms: readonly Alarm[]
}

/** Ids have 64 bits: more than a number of ours holds. On the wire they are decimal text. */
export function hexId(decimal: string): string {
  return BigInt(decimal).toString(16)
}

export function decimalId(hex: string): string {
  return BigInt(`0x${hex}`).toString()
}

/** By the host's name, or by an id. */
export function findMember({ members }: MemberList, name: string): Member | undefined {
  return members.find((member) => member.name === name) ?? members.find(({ id }) => id === name)
}

/** What a person calls it. */
export function titleOf({ name, peerUrls, id }: Member): string {
  return name || peerUrls[0] || id
}
