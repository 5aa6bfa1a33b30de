import { etcdData, etcdUnit } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'

/** Whoever acts on what the API says. Runtimes and networks stay, and with them the pods. */
export const actors = [
  'kubelet',
  'hyperkube-controller-manager',
  'kube-scheduler',
  'kube-controller-manager',
  'kube-apiserver',
]

/** A host, and what is to be done there. */
export interface RestoredHost {
  readonly plan: NodePlan
  readonly ops: readonly Op[]
  /** Whether it is a member of etcd, and so gets other data. */
  readonly member: boolean
}

/** What a restore does on a host before everything comes up again. */
export function opsOfRestore(host: RestoredHost): Op[] {
  const data: Op = {
    component: 'etcd',
    stage: 'etcd',
    action: 'change',
    target: 'directory',
    name: etcdData,
    because: [],
  }
  return [...stops(host), ...(host.member ? [data] : [])]
}

/** What is to be done there by then: whoever was stopped starts, also where nothing else is to be done. */
export function opsAfterStops(host: RestoredHost): Op[] {
  const begun = new Set(
    host.ops.filter(({ action }) => action === 'start' || action === 'restart').map(({ name }) => name),
  )
  const starts = stops(host)
    .filter(({ name }) => !begun.has(name))
    .map((op): Op => ({ ...op, action: 'start' }))
  return [...host.ops, ...starts]
}

/** A service that was never put there cannot be stopped; and on Windows nobody has a part in it. */
function stops({ plan, ops, member }: RestoredHost): Op[] {
  if (plan.os !== 'linux') return []
  const created = new Set(ops.filter(({ action }) => action === 'create').map(({ name }) => name))
  return plan.components.flatMap(({ name: component, stage, service }): Op[] => {
    if (service === undefined || created.has(service.name)) return []
    const stopped = actors.includes(component) || (member && service.name === etcdUnit)
    return stopped
      ? [{ component, stage, action: 'stop', target: 'service', name: service.name, because: [] }]
      : []
  })
}
