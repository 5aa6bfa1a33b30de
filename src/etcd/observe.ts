import type { EtcdClient } from './client.ts'
import { EtcdError, unlessEtcd } from './etcd-error.ts'
import type { CallOptions } from './gateway.ts'
import type { Member, MemberHealth, MemberList, MemberStatus, Observation } from './member.ts'

/** Looks at all members at once, also while some of them, or a quorum, are away. Fails when nobody answers at all. */
export async function observe(client: EtcdClient, options: CallOptions = {}): Promise<Observation> {
  const { list, confirmed } = await listOf(client, options)
  const [looks, alarms] = await Promise.all([
    Promise.all(list.members.map(async (member) => look(client, member, options))),
    confirmed ? client.alarms(options).catch(unlessEtcd) : undefined,
  ])
  return {
    ...list,
    confirmed,
    alarms: alarms ?? [],
    health: new Map(looks.map(({ member, health }) => [member.id, health])),
    statuses: new Map(
      looks.flatMap(({ member, status }) => (status === undefined ? [] : [[member.id, status]])),
    ),
  }
}

async function listOf(
  client: EtcdClient,
  options: CallOptions,
): Promise<{ list: MemberList; confirmed: boolean }> {
  try {
    return { list: await client.members(options), confirmed: true }
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error
    return { list: await client.members({ ...options, unconfirmed: true }), confirmed: false }
  }
}

interface Look {
  readonly member: Member
  readonly health: MemberHealth
  readonly status: MemberStatus | undefined
}

async function look(client: EtcdClient, member: Member, options: CallOptions): Promise<Look> {
  const [endpoint] = member.clientUrls
  if (endpoint === undefined) {
    return {
      member,
      health: { live: false, ready: false, failing: [], reason: 'has never started' },
      status: undefined,
    }
  }
  const [health, status] = await Promise.all([
    client.health(endpoint, options),
    client.status(endpoint, options).catch(unlessEtcd),
  ])
  return { member, health, status }
}
