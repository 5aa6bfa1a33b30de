import type { EtcdClient } from './client.ts'
import { EtcdError, ignoreEtcdError } from './etcd-error.ts'
import type { EtcdCallOptions } from './gateway.ts'
import {
  type Alarm,
  type EtcdMember,
  type EtcdObservation,
  type MemberHealth,
  type MemberList,
  type MemberStatus,
  unknownMember,
} from './member.ts'

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
    health: new Map(
      observations.map(({ member, health }) => [
        member.id,
        ignoreAlarmsOfOthers(member, health, alarms ?? []),
      ]),
    ),
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

/**
 * A CORRUPT alarm fails the check `data_corruption` of all members, although the data of only one differs. The other
 * members count as ready. Otherwise the damaged member could not be removed, as if etcd had no quorum without it.
 */
function ignoreAlarmsOfOthers(
  { id }: EtcdMember,
  health: MemberHealth,
  alarms: readonly Alarm[],
): MemberHealth {
  const corrupt = alarms.filter(({ alarm }) => alarm === 'CORRUPT')
  const isOfOthers =
    corrupt.length > 0 && corrupt.every(({ memberId }) => memberId !== id && memberId !== unknownMember)
  const isOnlyAlarm = health.live && health.failing.join() === 'data_corruption'
  return isOfOthers && isOnlyAlarm ? { live: true, ready: true, failing: [], reason: undefined } : health
}
