import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { SourceAddresses } from './reconcile-deps.ts'

/** Interfaces for reconciling a worker, in addition to the operations of its host. */
export interface WorkerDeps {
  /** Returns true if a component reports that it is healthy. */
  isReady(component: ComponentPlan, signal: AbortSignal): Promise<boolean>
  /** Reads the pod subnet of the host from its Node. Returns undefined while this is not possible. */
  subnet(plan: NodePlan, signal: AbortSignal): Promise<string | undefined>
  /** Allocates source addresses with the CNI plugins in the directory `plugins`. */
  addresses(plugins: string): SourceAddresses
}
