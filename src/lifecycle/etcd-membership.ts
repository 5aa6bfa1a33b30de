import { memberAddLearner, memberPromote, memberRemove, moveLeader } from '../etcd/changes.ts'
import type { EtcdClient } from '../etcd/client.ts'
import { EtcdError, isEtcdError } from '../etcd/etcd-error.ts'
import type { Member, Observation } from '../etcd/member.ts'
import { observe } from '../etcd/observe.ts'
import { describe, HyperkubeError } from '../kit/errors.ts'
import { waitWatchfully } from '../kit/poll-with-progress.ts'
import type { Member as PlannedMember } from '../plan/topology.ts'
import type { Patience } from './cluster-access.ts'

const between = 500

/** Gives a host a place in an etcd that lives, where it may learn. Answers with all who are members then, as it must know them. */
export async function joinEtcd(
  etcd: EtcdClient,
  { name, address }: PlannedMember,
  options: Patience,
): Promise<readonly PlannedMember[]> {
  const peerUrl = peerUrlOf(address)
  // For some seconds after a member has come or gone, etcd takes no other one.
  await patiently(options, `${name} cannot join etcd`, async () => {
    await memberAddLearner(etcd, await observe(etcd), peerUrl)
  })
  const { members } = await etcd.members()
  return members.map((member) => ({
    name: member.peerUrls.includes(peerUrl) ? name : member.name,
    address: new URL(member.peerUrls[0] ?? peerUrl).hostname,
  }))
}

/** Lets a host vote as soon as it knows what the others know. One that does not get there in time is taken out again. */
export async function promote(
  etcd: EtcdClient,
  { name, address }: PlannedMember,
  options: Patience,
): Promise<void> {
  try {
    await patiently(options, `${name} does not catch up with the other members of etcd`, async () => {
      const observed = await observe(etcd)
      await memberPromote(etcd, observed, seatOf(observed, address).id)
    })
  } catch (error) {
    if (!(error instanceof HyperkubeError) || error.code !== 'ETCD_LEARNER_STUCK') throw error
    // While it learns, nobody else can join.
    await leaveEtcd(etcd, address).catch(() => undefined)
    throw error
  }
}

/** Takes a host out for good. One that leads hands over first, so that nobody has to find out that it is gone. */
export async function leaveEtcd(etcd: EtcdClient, address: string): Promise<void> {
  const observed = await observe(etcd)
  const member = observed.members.find(isAt(address))
  if (member === undefined) return
  const heir = observed.members.find(
    ({ id, learner }) => id !== member.id && !learner && observed.health.get(id)?.ready === true,
  )
  const leads = observed.statuses.get(member.id)?.leader === member.id
  if (leads && heir !== undefined) await moveLeader(etcd, observed, heir.id)
  await memberRemove(etcd, observed, member.id)
}

async function patiently(
  { waiting, within, now, signal }: Patience,
  problem: string,
  work: () => Promise<void>,
): Promise<void> {
  await waitWatchfully(async () => work().then(() => undefined, reasonToWait), {
    tell: waiting,
    late: (reason) =>
      new HyperkubeError('ETCD_LEARNER_STUCK', `${problem}: ${reason}`, {
        component: 'etcd',
        hint: 'look at its disk and at the way between the hosts, then: hyperkube up',
      }),
    now,
    deadline: now().getTime() + within,
    every: between,
    signal,
  })
}

const passing = ['ETCD_UNAVAILABLE', 'ETCD_UNREACHABLE', 'ETCD_QUORUM'] as const

/** What may pass by itself; anything else is thrown. */
function reasonToWait(error: unknown): string {
  const learns = isEtcdError(error, 'ETCD_REFUSED') && error.message.includes('in sync with leader')
  if (learns || passing.some((code) => isEtcdError(error, code))) return describe(error)
  throw error
}

function seatOf({ members }: Observation, address: string): Member {
  const member = members.find(isAt(address))
  if (member !== undefined) return member
  throw new EtcdError('ETCD_MEMBERS_CHANGED', `nobody at ${address} is a member any more`)
}

/** Whether a member is the one of the host with this address. */
export function isAt(address: string): (member: Pick<Member, 'peerUrls'>) => boolean {
  return ({ peerUrls }) => peerUrls.includes(peerUrlOf(address))
}

function peerUrlOf(address: string): string {
  return `https://${address}:2380`
}
