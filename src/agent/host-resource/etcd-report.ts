import type { HostEtcd, HostSnapshot } from '../../contract/host-resource.ts'
import type { EtcdClient } from '../../etcd/client.ts'
import { unlessEtcd } from '../../etcd/etcd-error.ts'
import type { OwnMember } from './local-etcd.ts'
import type { SnapshotShelf } from './local-snapshots.ts'
import type { Clock } from '../host/clock.ts'

export interface MemberScene {
  readonly member: () => Promise<OwnMember | undefined>
  readonly shelf: Pick<SnapshotShelf, 'list'>
  readonly clock: Pick<Clock, 'now'>
}

export interface MemberWord {
  readonly etcd?: HostEtcd
  readonly snapshots?: HostSnapshot[]
}

/** Nothing on a host without a member of etcd. */
export type MemberTold = (signal: AbortSignal) => Promise<MemberWord>

/** In milliseconds. Not every look asks etcd: whether it answers at all is what probes ask. */
const every = 30_000
/** A member without a quorum takes longer to say so than anybody has to wait. */
const timeout = 5000

export function memberTold({ member, shelf, clock }: MemberScene): MemberTold {
  let known: { readonly at: number; readonly etcd: HostEtcd | undefined } | undefined
  return async (signal) => {
    const own = await member()
    if (own === undefined) return {}
    const now = clock.now().getTime()
    const age = known === undefined ? Infinity : now - known.at
    if (!(age >= 0 && age < every)) known = { at: now, etcd: await ask(own, known?.etcd, signal) }
    const etcd = known?.etcd
    // A directory that cannot be read says nothing of etcd, and the other way round.
    const snapshots = await shelf.list().catch(() => undefined)
    return { ...(etcd === undefined ? {} : { etcd }), ...(snapshots === undefined ? {} : { snapshots }) }
  }
}

/** Of one that does not answer the last that is known, and that it does not serve. */
async function ask(
  { client, endpoint }: Pick<OwnMember, 'endpoint'> & { readonly client: EtcdClient },
  before: HostEtcd | undefined,
  signal: AbortSignal,
): Promise<HostEtcd | undefined> {
  const options = { signal, timeout }
  const [status, list, health] = await Promise.all([
    client.status(endpoint, options).catch(unlessEtcd),
    client.members({ ...options, unconfirmed: true }).catch(unlessEtcd),
    client.health(endpoint, options),
  ])
  if (status === undefined || list === undefined) {
    if (before === undefined) return undefined
    const { leader: _leader, ...rest } = before
    return { ...rest, ready: false }
  }
  const { id, leader, learner, version, size, sizeInUse, quota } = status
  const alarms = health.ready ? await client.alarms(options).catch(unlessEtcd) : undefined
  return {
    id,
    ...(leader === undefined ? {} : { leader }),
    learner,
    ready: health.ready,
    version,
    size: wholeMebibytes(size),
    inUse: wholeMebibytes(sizeInUse),
    ...(quota === undefined ? {} : { quota }),
    members: list.members.map(({ id: one, name, learner: learns }) => ({ id: one, name, learner: learns })),
    alarms: (alarms ?? []).map(({ memberId, alarm }) => ({ member: memberId, alarm })),
  }
}

function wholeMebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20) * 2 ** 20
}
