import { z } from 'zod'
import { memberAddAnswer, memberListAnswer } from './responses.ts'
import type { EtcdClient } from './client.ts'
import { EtcdError } from './etcd-error.ts'
import type { CallOptions } from './gateway.ts'
import { checkAddition, checkPause, checkPromotion, checkRemoval } from './guards.ts'
import { decimalId, findMember, type Member, type MemberList, type Observation } from './member.ts'
import { observe } from './observe.ts'

/*
 * Each of these looks again before it does anything: what it was given may be old. And done twice it is done once.
 */

/**
 * A new member, which learns before it votes. Who is already there with this peer URL is the answer. For some seconds after
 * a member has come back etcd refuses with ETCD_UNAVAILABLE: ask again.
 */
export async function memberAddLearner(
  client: EtcdClient,
  observed: Observation,
  peerUrl: string,
  options: CallOptions = {},
): Promise<Member> {
  const now = await observeAgain(client, observed, options)
  const there = now.members.find(({ peerUrls }) => peerUrls.includes(peerUrl))
  if (there !== undefined) return there
  checkAddition(now)
  const body = { peerURLs: [peerUrl], isLearner: true }
  return (await client.change('cluster/member/add', body, memberAddAnswer, options)).member
}

/** Lets a learner vote. etcd refuses as long as it has not caught up; who votes already is left as it is. */
export async function memberPromote(
  client: EtcdClient,
  observed: Observation,
  host: string,
  options: CallOptions = {},
): Promise<MemberList> {
  const { id } = known(observed, host)
  const now = await observeAgain(client, observed, options)
  if (!known(now, id).learner) return now
  checkPromotion(now)
  return client.change('cluster/member/promote', { ID: decimalId(id) }, memberListAnswer, options)
}

/** Takes a member out for good: never when too few would be left. Who is gone already is gone. */
export async function memberRemove(
  client: EtcdClient,
  observed: Observation,
  host: string,
  options: CallOptions = {},
): Promise<MemberList> {
  const { id } = known(observed, host)
  const now = await observeAgain(client, observed, options)
  if (findMember(now, id) === undefined) return now
  checkRemoval(now, id)
  return client.change('cluster/member/remove', { ID: decimalId(id) }, memberListAnswer, options)
}

/** Only the leader itself can hand over. Answers whether there was something to do. */
export async function moveLeader(
  client: EtcdClient,
  observed: Observation,
  to: string,
  options: CallOptions = {},
): Promise<boolean> {
  const target = known(observed, to)
  const leader = observed.members.find(({ id }) => observed.statuses.get(id)?.leader === id)
  const [endpoint] = leader?.clientUrls ?? []
  if (leader === undefined || endpoint === undefined) {
    throw new EtcdError('ETCD_UNAVAILABLE', 'nobody leads, so that nobody can hand over')
  }
  if (leader.id === target.id) return false
  const body = { targetID: decimalId(target.id) }
  await client.changeAt(endpoint, 'maintenance/transfer-leadership', body, z.looseObject({}), options)
  return true
}

/** In milliseconds: a large database takes its time. */
const defragmentation = 5 * 60_000

/** Has the member at this endpoint give back the space that it does not use. It answers nobody meanwhile. */
export async function memberDefragment(
  client: EtcdClient,
  endpoint: string,
  { signal, timeout = defragmentation }: CallOptions = {},
): Promise<void> {
  const { id } = await client.status(endpoint, { signal })
  checkPause(await observe(client, { signal }), id)
  await client.changeAt(endpoint, 'maintenance/defragment', {}, z.looseObject({}), { signal, timeout })
}

function known(observed: Observation, host: string): Member {
  const member = findMember(observed, host)
  if (member !== undefined) return member
  throw new EtcdError('ETCD_MEMBERS_CHANGED', `${host} is not a member`)
}

/** What was seen before must have been of the same cluster, and both must be more than what one member remembers. */
async function observeAgain(
  client: EtcdClient,
  before: Observation,
  options: CallOptions,
): Promise<Observation> {
  const now = before.confirmed ? await observe(client, options) : before
  if (!now.confirmed) {
    const message = 'without a quorum nobody knows for sure who the members are, and nothing is changed'
    throw new EtcdError('ETCD_MEMBERS_UNKNOWN', message)
  }
  if (now.clusterId === before.clusterId) return now
  const message = `this is cluster ${now.clusterId}, and not ${before.clusterId} any more`
  throw new EtcdError('ETCD_MEMBERS_CHANGED', message)
}
