import type { NodePlan } from '../../contract/node-plan.ts'
import { type ManagedObjects, buildManagedObjects } from '../../lifecycle/cluster-objects/managed-objects.ts'
import { buildRemovalCommands } from '../../lifecycle/cluster-objects/removal-commands.ts'
import { selectControllers } from '../../manager/select-controllers.ts'
import { buildManagerRbac, managerLease } from '../../manager/rbac.ts'
import { controllers } from '../../manager/table.ts'
import { buildBaseObjects } from '../../kube/base-objects.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** Builds the objects that hyperkube owns in a cluster, with the RBAC rules of the enabled controllers. */
export function buildDesiredObjects(cluster: Cluster, plans: readonly NodePlan[]): ManagedObjects {
  const { manager } = cluster.spec
  if (manager === 'none') return buildManagedObjects({ cluster, plans, rules: [] })
  const enabled = selectControllers(controllers, manager.controllers)
  // Several controllers may need the same definition.
  const crds = [...new Set(enabled.flatMap((controller) => controller.crds ?? []))]
  return buildManagedObjects({ cluster, plans, rules: buildManagerRbac(enabled), crds })
}

/** Lists kubectl commands that delete the objects that hyperkube owns in a cluster. */
export function listRemovalCommands(cluster: Cluster): readonly string[] {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: managerLease }
  const { labelled } = buildDesiredObjects(cluster, [])
  return buildRemovalCommands(labelled, [
    ...buildBaseObjects({ windows: cluster.spec.hosts.some(({ os }) => os === 'windows') }),
    lease,
  ])
}
