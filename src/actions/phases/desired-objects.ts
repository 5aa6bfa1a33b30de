import type { NodePlan } from '../../contract/node-plan.ts'
import { type ManagedObjects, buildManagedObjects } from '../../lifecycle/cluster-objects/managed-objects.ts'
import { selectControllers } from '../../manager/select-controllers.ts'
import { buildManagerRbac } from '../../manager/rbac.ts'
import { controllers } from '../../manager/table.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** Builds the objects that hyperkube owns in a cluster, with the RBAC rules of the enabled controllers. */
export function buildDesiredObjects(cluster: Cluster, plans: readonly NodePlan[]): ManagedObjects {
  const { manager } = cluster.spec
  const rules =
    manager === 'none' ? [] : buildManagerRbac(selectControllers(controllers, manager.controllers))
  return buildManagedObjects({ cluster, plans, rules })
}
