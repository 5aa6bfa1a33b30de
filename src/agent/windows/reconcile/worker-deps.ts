import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { SourceAddresses } from './reconcile-deps.ts'

/** What reconciling a worker needs besides the operations of its host. */
export interface WorkerDeps {
  /** Whether a component reports that it is healthy. */
  isReady(component: ComponentPlan, signal: AbortSignal): Promise<boolean>
  /** Pod subnet of the host from its Node; undefined while it cannot be read. */
  subnet(plan: NodePlan, signal: AbortSignal): Promise<string | undefined>
  /** Source addresses, allocated by the CNI plugins in a directory. */
  addresses(plugins: string): SourceAddresses
}
