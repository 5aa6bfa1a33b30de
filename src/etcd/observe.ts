import type { EtcdClient } from './client.ts'
import { EtcdError, ignoreEtcdError } from './etcd-error.ts'
import type { EtcdCallOptions } from './gateway.ts'
import type { EtcdMember, MemberHealth, MemberList, MemberStatus, EtcdObservation } from './member.ts'

/** Observes all members, even without a quorum or if some members are down. Throws if no member responds. */
export async function observeEtcd(
  client: EtcdClient,
  options: EtcdCallOptions = {},
): Promise<EtcdObservation> {
  const { list, confirmed } = await listMembers(client, options)
  const [observations, alarms] = await Promise.all([
    Promise.all(list.members.map(async (member) => observeMember(client, member, options))),
    confirmed ? client.alarms(options).catch(ignoreEtcdError) : undefined,
  ])
  return {
    ...list,
    confirmed,
    alarms: alarms ?? [],
    health: new Map(observations.map(({ member, health }) => [member.id, health])),
    statuses: new Map(
      observations.flatMap(({ member, status }) => (status === undefined ? [] : [[member.id, status]])),
    ),
  }
}

async function listMembers(
  client: EtcdClient,
  options: EtcdCallOptions,
): Promise<{ list: MemberList; confirmed: boolean }> {
  try {
    return { list: await client.members(options), confirmed: true }
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error
    return { list: await client.members({ ...options, unconfirmed: true }), confirmed: false }
  }
}

interface MemberObservation {
  readonly member: EtcdMember
  readonly health: MemberHealth
  readonly status: MemberStatus | undefined
}

async function observeMember(
  client: EtcdClient,
  member: EtcdMember,
  options: EtcdCallOptions,
): Promise<MemberObservation> {
  const [endpoint] = member.clientUrls
  if (endpoint === undefined) {
    return {
      member,
      health: { live: false, ready: false, failing: [], reason: 'has never started' },
      status: undefined,
    }
  }
  // The status comes first, because a client with one connection sends the requests in this order. A member
  // without a quorum reports its status at once, but its health only after a timeout.
  const [status, health] = await Promise.all([
    client.status(endpoint, options).catch(ignoreEtcdError),
    client.health(endpoint, options),
  ])
  return { member, health, status }
}
