import {
  etcdDataDirectory,
  type EtcdRestoreId,
  type EtcdRestoreProgress,
  etcdUnit,
} from '../../contract/etcd-restore.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { formatNames } from '../../kit/text.ts'

/**
 * Components that a restore stops, because they act on the state of the API. Container runtimes and networks
 * keep running, so pods keep running too.
 */
export const componentsToStop = [
  'kubelet',
  'hyperkube-controller-manager',
  'kube-scheduler',
  'kube-controller-manager',
  'kube-apiserver',
]

/** A host that takes part in a restore, and its ops. */
export interface RestoredHost {
  readonly plan: NodePlan
  readonly ops: readonly Op[]
  /** True for an etcd member: its data is replaced. */
  readonly member: boolean
}

/** Lists the ops of the restore on a host, without the later start of components. */
export function listRestoreOps(host: RestoredHost): Op[] {
  const data: Op = {
    component: 'etcd',
    stage: 'etcd',
    action: 'change',
    target: 'directory',
    name: etcdDataDirectory,
    because: [],
  }
  return [...listStopOps(host), ...(host.member ? [data] : [])]
}

/**
 * Lists the ops of the `up` that follows a restore. Every stopped service is started, even on hosts without
 * other changes.
 */
export function listOpsAfterRestore(host: RestoredHost): Op[] {
  const started = new Set(
    host.ops.filter(({ action }) => action === 'start' || action === 'restart').map(({ name }) => name),
  )
  const starts = listStopOps(host)
    .filter(({ name }) => !started.has(name))
    .map((op): Op => ({ ...op, action: 'start' }))
  return [...host.ops, ...starts]
}

/**
 * Lists the services that a restore stops. Services that are not installed yet are left out, and Windows
 * hosts take no part in a restore.
 */
function listStopOps({ plan, ops, member }: RestoredHost): Op[] {
  if (plan.os !== 'linux') return []
  const created = new Set(ops.filter(({ action }) => action === 'create').map(({ name }) => name))
  return plan.components.flatMap(({ name: component, stage, service }): Op[] => {
    if (service === undefined || created.has(service.name)) return []
    const mustStop = componentsToStop.includes(component) || (member && service.name === etcdUnit)
    return mustStop
      ? [{ component, stage, action: 'stop', target: 'service', name: service.name, because: [] }]
      : []
  })
}

/** Progress of the restore on each host, by host name. */
type RestoreProgressByHost = ReadonlyMap<string, EtcdRestoreProgress>

/**
 * Reports an unfinished restore. Until it ends every other change is refused, because members with data of
 * different restores must not start together.
 */
export function checkUnfinishedRestore(restores: RestoreProgressByHost): Finding[] {
  if (restores.size === 0) return []
  const withData = [...restores].filter(([, { state }]) => state === 'data-restored').map(([host]) => host)
  const others = [...restores.keys()].filter((host) => !withData.includes(host))
  const parts = [
    ...(withData.length === 0 ? [] : [`data restored on ${formatNames(withData)}`]),
    ...(others.length === 0 ? [] : [`begun on ${formatNames(others)}`]),
  ]
  return [
    {
      code: 'ETCD_RESTORE_UNFINISHED',
      severity: 'error',
      message: `an etcd restore was started and is not finished: ${parts.join(', ')}`,
      hint: 'resume the restore: hyperkube etcd snapshot restore NAME',
    },
  ]
}

/**
 * Finds the restore to resume. It must have the same snapshot and members, and no host may have another
 * restore. Undefined means that every member receives its data again.
 */
export function findRestoreToResume(
  restores: RestoreProgressByHost,
  { snapshot, members }: Omit<EtcdRestoreId, 'id'>,
): EtcdRestoreId | undefined {
  const [first, ...others] = restores.values()
  if (first === undefined || others.some(({ id }) => id !== first.id)) return undefined
  const isSame = first.snapshot === snapshot && first.members.join() === members.join()
  return isSame ? { id: first.id, snapshot, members } : undefined
}

/** Lists hosts that have received the data of this restore. */
export function listHostsWithData(restores: RestoreProgressByHost, id: string): ReadonlySet<string> {
  const withData = [...restores].filter(
    ([, restore]) => restore.id === id && restore.state === 'data-restored',
  )
  return new Set(withData.map(([host]) => host))
}
