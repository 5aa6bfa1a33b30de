import type { NodePlan } from '../../contract/node-plan.ts'
import { type OwnObjects, ownObjects } from '../../lifecycle/cluster-objects/managed-objects.ts'
import { choose } from '../../manager/select-controllers.ts'
import { managerObjects } from '../../manager/rbac.ts'
import { controllers } from '../../manager/table.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** What a cluster shall have of us, with the rights of those controllers that are on. */
export function objectsOf(cluster: Cluster, plans: readonly NodePlan[]): OwnObjects {
  const { manager } = cluster.spec
  const rights = manager === 'none' ? [] : managerObjects(choose(controllers, manager.controllers))
  return ownObjects({ cluster, plans, rights })
}
