import { quorumSize } from '../kit/quorum.ts'
import { findMember, type HealthByMember, type EtcdMember } from './member.ts'

/** Voters and quorum of an etcd cluster, now or after the loss of a member. */
export interface QuorumState {
  /** True if enough voters are healthy. */
  readonly hasQuorum: boolean
  /** Number of voters. `healthy` is how many of them are healthy, `needed` the size of a quorum. */
  readonly voters: number
  readonly healthy: number
  readonly needed: number
}

/**
 * Returns the quorum while a member is down. The member still counts as a voter. `host` is its name or id.
 */
export function quorumAfterLosing(
  members: readonly EtcdMember[],
  health: HealthByMember,
  host: string,
): QuorumState {
  const voters = listVoters(members)
  return computeQuorum(voters, health, findMember({ clusterId: '', members }, host)?.id)
}

/** Returns the quorum after a member is removed. The member no longer counts as a voter. */
export function quorumAfterRemoving(
  members: readonly EtcdMember[],
  health: HealthByMember,
  host: string,
): QuorumState {
  const removed = findMember({ clusterId: '', members }, host)?.id
  return computeQuorum(
    listVoters(members).filter(({ id }) => id !== removed),
    health,
    removed,
  )
}

export function currentQuorum(members: readonly EtcdMember[], health: HealthByMember): QuorumState {
  return computeQuorum(listVoters(members), health, undefined)
}

function listVoters(members: readonly EtcdMember[]): EtcdMember[] {
  return members.filter(({ learner }) => !learner)
}

function computeQuorum(
  voters: readonly EtcdMember[],
  health: HealthByMember,
  excluded: string | undefined,
): QuorumState {
  const healthy = voters.filter(({ id }) => id !== excluded && health.get(id)?.ready === true).length
  const needed = quorumSize(voters.length)
  return { hasQuorum: healthy >= needed, voters: voters.length, healthy, needed }
}
