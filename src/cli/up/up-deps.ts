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
  /** Changes beyond this plan are refused. */
  readonly plan: ApprovedPlan | undefined
  /** Hosts roll back by themselves unless the change is confirmed. */
  readonly provisional?: ProvisionalOptions | undefined
  /** False for programs that read events and answer no prompts. */
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
  /** Whether to renew all certificates, also those that are valid for long. */
  readonly renew?: boolean
  /** Hosts whose etcd got new data and has not run with it yet. */
  readonly restored?: readonly string[]
  readonly run: RunReporter
  /** Called with the planned changes before the operator is asked. */
  readonly onPlanned?: (changes: PlannedChanges) => void
  /** Connects to the running cluster. */
  readonly createClient: (
    endpoints: readonly HostEndpoint[],
    options: ClusterClientOptions,
  ) => Promise<Omit<ClusterClient, 'api' | 'etcd'>>
  /** Saves the desired files, once they are confirmed or already applied. */
  readonly persist: () => Promise<void>
  /** From now on hosts are waited for, even after an interrupt. */
  readonly deferAbort: () => void
  /** After deferAbort an interrupt does not abort this signal, so that work in the cluster is cleaned up. */
  readonly deferredSignal: AbortSignal
}
