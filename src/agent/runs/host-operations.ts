import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { EtcdRestoreProgress } from '../../contract/etcd-restore.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest, InstalledCertificate } from '../../contract/request.ts'
import type { HostProvisionalChange, ProvisionalChange } from '../../contract/provisional-change.ts'
import type { EmitRunEvent } from '../apply/emit-run-event.ts'
import type { ExitHook } from './runs.ts'

export type ServerRequestBody = AgentRequest['body']
export type ApplyRequest = Extract<ServerRequestBody, { type: 'apply' }>
export type StopServicesRequest = Extract<ServerRequestBody, { type: 'stop-services' }>
export type RestoreEtcdDataRequest = Extract<ServerRequestBody, { type: 'restore-etcd-data' }>

/** Operations of an agent on its host. */
export interface HostOperations {
  facts(host: string): Promise<Facts>
  diff(
    plan: NodePlan,
    withContents: boolean,
    renew: boolean,
  ): Promise<{ ops: Op[]; findings: Finding[]; fileContents?: Record<string, string> }>
  /**
   * Returns the applied plan whose digest differs from this one; without a digest, the plan that a
   * provisional change rolls back to.
   */
  previousPlan(differentFrom: string | undefined): Promise<NodePlan | undefined>
  certificates(): Promise<InstalledCertificate[]>
  /** Covers all certificates of a plan, or only those that are passed. */
  certificateRequests(
    plan: NodePlan,
    renew: boolean,
    planned?: PlannedCertificate[],
  ): Promise<Record<string, string>>
  apply(request: ApplyRequest, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  /** Stops the services of some components. */
  stopServices(request: StopServicesRequest, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  restoreEtcdData(request: RestoreEtcdDataRequest, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  /** Prepares the host for its etcd member to join again. */
  wipeEtcd(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  /** The etcd restore that is not ended yet. */
  activeRestore(): Promise<EtcdRestoreProgress | undefined>
  endRestore(id: string): Promise<void>
  /** The active provisional change, if any. */
  provisional(): Promise<HostProvisionalChange | undefined>
  beginProvisional(provisional: ProvisionalChange): Promise<HostProvisionalChange | undefined>
  moveProvisional(id: string, deadline: string): Promise<HostProvisionalChange | undefined>
  confirmProvisional(id: string): Promise<HostProvisionalChange | undefined>
  /** Rolls back from a provisional change to the previous plan. */
  rollback(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  /** Returns a hook that ends the agent, if the agent runs as a service. */
  reset(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<ExitHook | undefined>
}
