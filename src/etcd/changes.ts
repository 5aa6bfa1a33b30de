import { z } from 'zod'
import type { EtcdClient } from './client.ts'
import { EtcdError } from './etcd-error.ts'
import type { EtcdCallOptions } from './gateway.ts'
import {
  type Alarm,
  decimalId,
  type EtcdMember,
  type EtcdObservation,
  findMember,
  formatMember,
  type MemberList,
  unknownMember,
} from './member.ts'
import { observeEtcd } from './observe.ts'
import { currentQuorum, quorumAfterLosing, quorumAfterRemoving } from './quorum.ts'
import { memberAddResponse, memberListResponse } from './wire.ts'

/*
 * The functions of this file change an etcd cluster. Each function observes the cluster again first, because
 * the caller's observation may be outdated. All changes are idempotent.
 */

/**
 * Adds a member as a learner. Returns the existing member if its peer URL is already known. Callers must
 * retry on ETCD_UNAVAILABLE, because etcd refuses new members for some seconds after another member has
 * reconnected.
 */
export async function memberAddLearner(
  client: EtcdClient,
  observed: EtcdObservation,
  peerUrl: string,
  options: EtcdCallOptions = {},
): Promise<EtcdMember> {
  const now = await observeAgain(client, observed, options)
  const existing = now.members.find(({ peerUrls }) => peerUrls.includes(peerUrl))
  if (existing !== undefined) return existing
  const knownIds = new Set([unknownMember, ...now.members.map(({ id }) => id)])
  await disarm(
    client,
    now.alarms.filter(({ memberId }) => !knownIds.has(memberId)),
    options,
  )
  checkAddition(now)
  const body = { peerURLs: [peerUrl], isLearner: true }
  return (await client.change('cluster/member/add', body, memberAddResponse, options)).member
}

/**
 * Promotes a learner to a voter. etcd refuses the promotion until the learner has caught up. A member that
 * already votes is left unchanged.
 */
export async function memberPromote(
  client: EtcdClient,
  observed: EtcdObservation,
  host: string,
  options: EtcdCallOptions = {},
): Promise<MemberList> {
  const { id } = requireMember(observed, host)
  const now = await observeAgain(client, observed, options)
  if (!requireMember(now, id).learner) return now
  checkPromotion(now)
  return client.change('cluster/member/promote', { ID: decimalId(id) }, memberListResponse, options)
}

/**
 * Removes a member permanently. Fails if the remaining voters would have no quorum. Succeeds if the member
 * was already removed.
 */
export async function memberRemove(
  client: EtcdClient,
  observed: EtcdObservation,
  host: string,
  options: EtcdCallOptions = {},
): Promise<MemberList> {
  const { id } = requireMember(observed, host)
  const now = await observeAgain(client, observed, options)
  if (findMember(now, id) === undefined) return now
  checkRemoval(now, id)
  const remaining = await client.change(
    'cluster/member/remove',
    { ID: decimalId(id) },
    memberListResponse,
    options,
  )
  await disarm(
    client,
    now.alarms.filter(({ memberId }) => memberId === id),
    options,
  )
  return remaining
}

/** Ends alarms of removed members. They would stay active for ever, and etcd accepts no writes meanwhile. */
async function disarm(client: EtcdClient, alarms: readonly Alarm[], options: EtcdCallOptions): Promise<void> {
  for (const { memberId, alarm } of alarms) {
    const body = { action: 'DEACTIVATE', memberID: decimalId(memberId), alarm }
    await client.change('maintenance/alarm', body, z.looseObject({}), options)
  }
}

/**
 * Transfers leadership to a member, by a request to the current leader. Returns false if the member already
 * leads.
 */
export async function transferLeadership(
  client: EtcdClient,
  observed: EtcdObservation,
  to: string,
  options: EtcdCallOptions = {},
): Promise<boolean> {
  const target = requireMember(observed, to)
  const leader = observed.members.find(({ id }) => observed.statuses.get(id)?.leader === id)
  const [endpoint] = leader?.clientUrls ?? []
  if (leader === undefined || endpoint === undefined) {
    throw new EtcdError('ETCD_UNAVAILABLE', 'etcd has no leader, so leadership cannot be transferred')
  }
  if (leader.id === target.id) return false
  const body = { targetID: decimalId(target.id) }
  await client.changeAt(endpoint, 'maintenance/transfer-leadership', body, z.looseObject({}), options)
  return true
}

/** Timeout of a defragmentation in milliseconds. A large database takes minutes. */
const defragmentTimeoutMs = 5 * 60_000

/** Defragments the member at this endpoint. The member serves no requests until the defragmentation ends. */
export async function memberDefragment(
  client: EtcdClient,
  endpoint: string,
  { signal, timeoutMs = defragmentTimeoutMs }: EtcdCallOptions = {},
): Promise<void> {
  const { id } = await client.status(endpoint, { signal })
  checkDowntime(await observeEtcd(client, { signal }), id)
  await client.changeAt(endpoint, 'maintenance/defragment', {}, z.looseObject({}), { signal, timeoutMs })
}

function requireMember(observed: EtcdObservation, host: string): EtcdMember {
  const member = findMember(observed, host)
  if (member !== undefined) return member
  throw new EtcdError('ETCD_MEMBERS_CHANGED', `${host} is not a member`)
}

/**
 * Observes the cluster again. Throws unless both observations are confirmed by a quorum and belong to the
 * same cluster.
 */
async function observeAgain(
  client: EtcdClient,
  before: EtcdObservation,
  options: EtcdCallOptions,
): Promise<EtcdObservation> {
  const now = before.confirmed ? await observeEtcd(client, options) : before
  if (!now.confirmed) {
    const message = 'without a quorum the member list is not reliable; nothing was changed'
    throw new EtcdError('ETCD_MEMBERS_UNKNOWN', message)
  }
  if (now.clusterId === before.clusterId) return now
  const message = `the etcd cluster id changed from ${before.clusterId} to ${now.clusterId}`
  throw new EtcdError('ETCD_MEMBERS_CHANGED', message)
}

/**
 * Throws if there is already a learner, because etcd allows only one learner at a time. Also throws if a
 * member is not ready: a further voter may raise the quorum above the number of ready members.
 */
function checkAddition({ members, health }: EtcdObservation): void {
  const learner = members.find((member) => member.learner)
  if (learner !== undefined) {
    throw new EtcdError(
      'ETCD_LEARNER',
      `${formatMember(learner)} is still a learner, and etcd allows one learner at a time`,
      {
        hint: 'wait until it is promoted, or remove it; check: hyperkube etcd status',
      },
    )
  }
  const unreachable = members.filter(({ id }) => health.get(id)?.ready !== true)
  if (unreachable.length > 0) {
    throw new EtcdError(
      'ETCD_QUORUM',
      `no member can join while these members are not ready: ${formatMembers(unreachable)}`,
      {
        hint: 'make them ready, or remove them first; check: hyperkube etcd status',
      },
    )
  }
}

/**
 * Throws unless all voters are healthy. A further voter may raise the quorum above the number of healthy
 * voters.
 */
function checkPromotion({ members, health }: EtcdObservation): void {
  const { healthy, voters } = currentQuorum(members, health)
  if (healthy === voters) return
  throw new EtcdError(
    'ETCD_QUORUM',
    `only ${healthy} of ${voters} voters are healthy, so no member can be promoted`,
  )
}

/** Throws if the cluster would lose its quorum. A learner can always be removed, because it does not vote. */
function checkRemoval({ members, health }: EtcdObservation, id: string): void {
  const member = members.find((one) => one.id === id)
  if (member === undefined || member.learner) return
  const { hasQuorum, voters, healthy, needed } = quorumAfterRemoving(members, health, id)
  if (hasQuorum) return
  const message = `without ${formatMember(member)}, ${healthy} of ${voters} voters would be healthy, and ${needed} are needed`
  throw new EtcdError('ETCD_QUORUM', message, {
    hint: 'make another member healthy first: hyperkube etcd status',
  })
}

/**
 * Throws if the other members would have no quorum while this member serves no requests. A cluster with a
 * single voter is exempt, because its downtime cannot be avoided.
 */
function checkDowntime({ members, health }: EtcdObservation, id: string): void {
  const member = members.find((one) => one.id === id)
  if (member === undefined || member.learner) return
  const { hasQuorum, voters, healthy, needed } = quorumAfterLosing(members, health, id)
  if (hasQuorum || voters === 1) return
  const message = `while ${formatMember(member)} serves no requests, ${healthy} of ${voters} voters would be healthy, and ${needed} are needed`
  throw new EtcdError('ETCD_QUORUM', message, {
    hint: 'make another member healthy first: hyperkube etcd status',
  })
}

function formatMembers(members: readonly EtcdMember[]): string {
  return members.map(formatMember).join(', ')
}
