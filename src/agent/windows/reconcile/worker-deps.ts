import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { SourceAddresses } from './reconcile-deps.ts'

/** What a worker is brought up with, beside the operations of its host. */
export interface WorkerHands {
  /** Whether a component says itself that it is well. */
  isReady(component: ComponentPlan, signal: AbortSignal): Promise<boolean>
  /** The host's part of the pods' network, as its Node says it; nothing as long as that cannot be known. */
  subnet(plan: NodePlan, signal: AbortSignal): Promise<string | undefined>
  /** By the plugins that lie in a directory. */
  addresses(plugins: string): SourceAddresses
}
