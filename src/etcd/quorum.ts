import { findMember, type Health, type Member } from './member.ts'

/** What becomes of etcd when one member is no longer there. */
export interface Verdict {
  /** Enough are left to decide. */
  readonly kept: boolean
  /** How many would vote, of whom so many are well, and so many are needed. */
  readonly voters: number
  readonly well: number
  readonly needed: number
}

/** How many of so many must be well for any of them to take a write. */
export function quorum(voters: number): number {
  return Math.floor(voters / 2) + 1
}

/** A member is away for a while, and is counted all the same. `host` is its name or id. */
export function quorumAfterLosing(members: readonly Member[], health: Health, host: string): Verdict {
  const voters = votersOf(members)
  return verdict(voters, health, findMember({ clusterId: '', members }, host)?.id)
}

/** A member is taken out, and is counted no more. */
export function quorumAfterRemoving(members: readonly Member[], health: Health, host: string): Verdict {
  const removed = findMember({ clusterId: '', members }, host)?.id
  return verdict(
    votersOf(members).filter(({ id }) => id !== removed),
    health,
    removed,
  )
}

/** As it is. */
export function quorumNow(members: readonly Member[], health: Health): Verdict {
  return verdict(votersOf(members), health, undefined)
}

function votersOf(members: readonly Member[]): Member[] {
  return members.filter(({ learner }) => !learner)
}

function verdict(voters: readonly Member[], health: Health, away: string | undefined): Verdict {
  const well = voters.filter(({ id }) => id !== away && health.get(id)?.ready === true).length
  const needed = quorum(voters.length)
  return { kept: well >= needed, voters: voters.length, well, needed }
}
