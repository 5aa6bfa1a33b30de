import type { HostEtcd, HostSnapshot } from '../../contract/host-resource.ts'
import type { EtcdClient } from '../../etcd/client.ts'
import { ignoreEtcdError } from '../../etcd/etcd-error.ts'
import type { LocalEtcdMember } from './local-etcd.ts'
import type { LocalSnapshots } from './local-snapshots.ts'
import type { Clock } from '../host/clock.ts'

export interface EtcdReportDeps {
  readonly member: () => Promise<LocalEtcdMember | undefined>
  readonly snapshots: Pick<LocalSnapshots, 'list'>
  readonly clock: Pick<Clock, 'now'>
}

export interface EtcdReport {
  readonly etcd?: HostEtcd
  readonly snapshots?: HostSnapshot[]
}

/** Reads the state of the local etcd member. The report is empty on hosts without a member. */
export type ReadEtcdReport = (signal: AbortSignal) => Promise<EtcdReport>

/** Milliseconds for which an etcd status is reused. Probes already check more often whether etcd responds. */
const cacheMs = 30_000
/** Milliseconds to wait for a response. A member without quorum would respond too late for the report. */
const timeoutMs = 5000

export function createEtcdReporter({ member, snapshots, clock }: EtcdReportDeps): ReadEtcdReport {
  let cached: { readonly at: number; readonly etcd: HostEtcd | undefined } | undefined
  return async (signal) => {
    const local = await member()
    if (local === undefined) return {}
    const now = clock.now().getTime()
    const age = cached === undefined ? Infinity : now - cached.at
    if (!(age >= 0 && age < cacheMs))
      cached = { at: now, etcd: await queryMember(local, cached?.etcd, signal) }
    const etcd = cached?.etcd
    // If the snapshot directory is unreadable, the etcd status is still reported.
    const stored = await snapshots.list().catch(() => undefined)
    return { ...(etcd === undefined ? {} : { etcd }), ...(stored === undefined ? {} : { snapshots: stored }) }
  }
}

/**
 * Queries the status of the member. If it does not respond, returns the last known status with `ready:
 * false`.
 */
async function queryMember(
  { client, endpoint }: Pick<LocalEtcdMember, 'endpoint'> & { readonly client: EtcdClient },
  previous: HostEtcd | undefined,
  signal: AbortSignal,
): Promise<HostEtcd | undefined> {
  const options = { signal, timeoutMs }
  const [status, list, health] = await Promise.all([
    client.status(endpoint, options).catch(ignoreEtcdError),
    client.members({ ...options, unconfirmed: true }).catch(ignoreEtcdError),
    client.health(endpoint, options),
  ])
  if (status === undefined || list === undefined) {
    if (previous === undefined) return undefined
    const { leader: _leader, ...rest } = previous
    return { ...rest, ready: false }
  }
  const { id, leader, learner, version, size, sizeInUse, quota } = status
  const alarms = health.ready ? await client.alarms(options).catch(ignoreEtcdError) : undefined
  return {
    id,
    ...(leader === undefined ? {} : { leader }),
    learner,
    ready: health.ready,
    version,
    size: roundUpToMebibytes(size),
    inUse: roundUpToMebibytes(sizeInUse),
    ...(quota === undefined ? {} : { quota }),
    members: list.members.map(({ id: one, name, learner: isLearner }) => ({
      id: one,
      name,
      learner: isLearner,
    })),
    alarms: (alarms ?? []).map(({ memberId, alarm }) => ({ member: memberId, alarm })),
  }
}

function roundUpToMebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20) * 2 ** 20
}
