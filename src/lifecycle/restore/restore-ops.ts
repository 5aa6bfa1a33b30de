import { etcdDataDirectory, etcdUnit } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'

/**
 * Components that act on the state of the API. Container runtimes and networks keep running, so pods keep
 * running too.
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
