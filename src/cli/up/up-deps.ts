import type { ProvisionalOptions } from '../../lifecycle/auto-rollback/plan-provisional.ts'
import type { ClusterClient, ClusterClientOptions } from '../../lifecycle/cluster-client.ts'
import type { HostEndpoint } from '../../lifecycle/host-endpoints.ts'
import type { PlannedChanges, PlanDocument } from '../../lifecycle/plan-document.ts'
import type { CommandContext, Invocation } from '../command.ts'
import type { RunReporter } from '../run-with-progress.ts'
import type { ClusterConnection } from './connect.ts'

export interface UpFlags {
  readonly ignore: readonly string[]
  readonly forceUnlock: boolean
  /** Whether changes are only shown. */
  readonly dryRun: boolean
  /** Plan to which changes are limited; other changes are refused. */
  readonly plan: ApprovedPlan | undefined
  /** If set, hosts roll back by themselves unless the change is confirmed. */
  readonly provisional?: ProvisionalOptions | undefined
  /** False if a program reads the events, because it cannot reply to prompts. */
  readonly canPrompt: boolean
}

export interface ApprovedPlan {
  readonly file: string
  readonly document: PlanDocument
}

export interface UpDeps extends Pick<ClusterConnection, 'inputs' | 'connected' | 'removedHosts'> {
  readonly context: CommandContext
  readonly options: Invocation['options']
  readonly flags: UpFlags
  /** Whether to renew all certificates, even those that are valid for a long time. */
  readonly renew?: boolean
  /** Hosts whose etcd data was replaced and not used yet. */
  readonly restored?: readonly string[]
  readonly run: RunReporter
  /** Called with the planned changes before the operator is asked. */
  readonly onPlanned?: (changes: PlannedChanges) => void
  /** Connects to the running cluster. */
  readonly createClient: (
    endpoints: readonly HostEndpoint[],
    options: ClusterClientOptions,
  ) => Promise<Omit<ClusterClient, 'api' | 'etcd'>>
  /** Saves the desired files after they were confirmed, or if they are already applied. */
  readonly persist: () => Promise<void>
  /** After this call, an interrupt no longer stops the wait for hosts. */
  readonly deferAbort: () => void
  /** After deferAbort, an interrupt does not abort this signal, so work in the cluster can be cleaned up. */
  readonly deferredSignal: AbortSignal
}
