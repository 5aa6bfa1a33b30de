import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { EtcdRestoreProgress } from '../../contract/etcd-restore.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { HostProvisionalChange, ProvisionalChange } from '../../contract/provisional-change.ts'
import type { AgentInstallation, AgentRequest, InstalledCertificate } from '../../contract/request.ts'
import type { EmitRunEvent } from '../records/run-op.ts'
import type { ExitHook } from './runs.ts'

export type ServerRequestBody = AgentRequest['body']
export type ApplyRequest = Extract<ServerRequestBody, { type: 'apply' }>
export type StopServicesRequest = Extract<ServerRequestBody, { type: 'stop-services' }>
export type RestoreEtcdDataRequest = Extract<ServerRequestBody, { type: 'restore-etcd-data' }>

/** Operations of an agent on its host. */
export interface HostOperations {
  facts(host: string): Promise<Facts>
  /** Returns how the agent is installed; undefined on Windows, where the installer decides. */
  agentInstallation(): Promise<AgentInstallation | undefined>
  diff(
    plan: NodePlan,
    withContents: boolean,
    renew: boolean,
  ): Promise<{ ops: Op[]; findings: Finding[]; fileContents?: Record<string, string> }>
  /**
   * Returns the newest applied plan whose digest is not `differentFrom`. If `differentFrom` is undefined,
   * returns the plan to which a provisional change rolls back.
   */
  previousPlan(differentFrom: string | undefined): Promise<NodePlan | undefined>
  certificates(): Promise<InstalledCertificate[]>
  /**
   * Returns requests for the certificates in `planned`, by default for all certificates of the plan. A valid
   * certificate gets a request only if `renew` is set.
   */
  certificateRequests(
    plan: NodePlan,
    renew: boolean,
    planned?: PlannedCertificate[],
  ): Promise<Record<string, string>>
  apply(request: ApplyRequest, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  stopServices(request: StopServicesRequest, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  restoreEtcdData(request: RestoreEtcdDataRequest, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  /** Removes the etcd member from the host, so that the host can join etcd again as a new member. */
  wipeEtcd(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  /** Returns the etcd restore that has not ended yet. */
  activeRestore(): Promise<EtcdRestoreProgress | undefined>
  endRestore(id: string): Promise<void>
  /** Returns the active provisional change, or the last one if the host rolled it back. */
  provisional(): Promise<HostProvisionalChange | undefined>
  beginProvisional(provisional: ProvisionalChange): Promise<HostProvisionalChange | undefined>
  moveProvisional(id: string, deadline: string): Promise<HostProvisionalChange | undefined>
  confirmProvisional(id: string): Promise<HostProvisionalChange | undefined>
  /** Rolls back from a provisional change to the previous plan. */
  rollback(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  /** Resets the host. If the agent runs as a service, returns a hook that stops it. */
  reset(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<ExitHook | undefined>
  /** Components whose predecessors have ended although the components have never run. */
  unfinishedMoves(): Promise<readonly string[]>
  returnUnfinishedMoves(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
  /** Returns the host to what ran there before hyperkube. The result is that of `reset`. */
  returnHost(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<ExitHook | undefined>
}
