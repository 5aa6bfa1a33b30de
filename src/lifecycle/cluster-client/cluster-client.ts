import type { Addon } from '../../addons/addon.ts'
import type { ApplyAddonOptions, ApplyAddonResult } from '../../addons/apply-addon.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { EtcdObservation } from '../../etcd/member.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { HostAddress } from '../../plan/topology.ts'
import type { AddonReadiness } from '../../addons/addon-readiness.ts'
import type { IngressObservation } from '../../addons/nginx-annotations.ts'
import type { CountMissingPods } from '../addons/addon-status.ts'
import type { AddonProposal, AddonProposalInput } from '../addons/proposal.ts'
import type { ClusterObjectChange } from '../cluster-objects/changes.ts'
import type { Node } from '../cluster-objects/node.ts'
import type { ClusterWaitOptions, KnownEtcdMember, NextEtcd } from '../etcd/membership.ts'
import type { SmokeTestPods } from '../smoke-test/smoke-test-pods.ts'

/** Why a component or node is not ready yet; undefined if it is ready. */
export type NotReadyReason = string | undefined

/**
 * Client of a running cluster. It reads and changes etcd and the API without agents. A function that needs
 * only some members takes `Pick<ClusterClient, …>`.
 */
export interface ClusterClient extends Disposable {
  /** Client of the API, for callers that read or change their own objects. */
  readonly api: KubeClient

  /** The member list that etcd confirms with a quorum; empty if etcd does not answer. */
  members(): Promise<readonly KnownEtcdMember[]>
  /** The member list that a single member has stored, for an etcd without quorum. */
  unconfirmedMembers(): Promise<readonly KnownEtcdMember[]>
  /** etcd cluster id of each reachable member, by host. */
  etcdIds(): Promise<ReadonlyMap<string, string>>
  /** Observes all etcd members. Throws if no member answers. */
  observeEtcd(signal: AbortSignal): Promise<EtcdObservation>
  listNodes(signal: AbortSignal): Promise<readonly Node[]>
  /** Checks all installed addons. A DaemonSet may lack as many pods as there are nodes that are not ready. */
  checkAddons(countMissing: CountMissingPods, signal: AbortSignal): Promise<readonly AddonReadiness[]>
  /** Lists all Ingresses and IngressClasses. */
  listIngresses(signal: AbortSignal): Promise<Omit<IngressObservation, 'nginxAnnotations'>>
  /**
   * Reads the state of the API; undefined if no API server is ready. Addons are compared only if `addons` is
   * given.
   */
  readApiState(addons?: AddonProposalInput): Promise<ApiState | undefined>
  /** Predicts problems of draining these hosts. */
  drainFindings(hosts: readonly string[]): Promise<readonly Finding[]>
  /**
   * Findings about APIs that clients still request but the desired version no longer serves, and about a kube-proxy that
   * hyperkube does not upgrade.
   */
  findUpgradeProblems(desiredVersion: string): Promise<readonly Finding[]>

  /** Checks the etcd members of these hosts. */
  etcdHealthy(hosts: readonly string[]): Promise<NotReadyReason>
  isVoter(host: string): Promise<NotReadyReason>
  apiReady(hosts: readonly string[]): Promise<NotReadyReason>
  /** Checks kube-controller-manager and kube-scheduler of a control plane. Other hosts count as ready. */
  controllersReady(host: string): Promise<NotReadyReason>
  /** Checks the nodes of these hosts. With `runtime`, they must also report this container runtime. */
  nodesReady(hosts: readonly string[], runtime?: string): Promise<NotReadyReason>

  /**
   * Adds a host to etcd as a learner. Returns all members, because the configuration of the new member lists
   * them.
   */
  joinEtcd(host: string, wait: ClusterWaitOptions): Promise<readonly HostAddress[]>
  /** Promotes the learner of a host to a voter once the learner is in sync. */
  promote(host: string, wait: ClusterWaitOptions): Promise<void>
  removeEtcdMember(host: string): Promise<void>
  /** Prepares the etcd member of a host for a version of etcd, if the upgrade needs it. */
  prepareEtcdUpgrade(host: string, next: NextEtcd, wait: ClusterWaitOptions): Promise<void>
  /** Transfers etcd leadership to another ready voter if the member of this host leads. */
  releaseEtcdLeadership(host: string): Promise<void>
  /** Evicts the pods of a host. For a lost host only the pod objects are deleted. */
  drain(host: string, wait: ClusterWaitOptions & { readonly lost: boolean }): Promise<void>
  /** Removes the cordon that a rollout has set. A cordon of `node drain` stays. */
  uncordon(host: string): Promise<void>
  removeNode(host: string): Promise<void>

  /** Applies the RBAC rules and objects that hyperkube and its users need. */
  applyObjects(): Promise<void>
  /** Sets labels and taints that kubelets may not set themselves. */
  syncNodeLabels(plans: readonly NodePlan[]): Promise<void>
  readonly smokeTestPods: SmokeTestPods
  /** Applies the objects of an addon without waiting for its workloads. */
  applyAddonNoWait(addon: Addon, options: ApplyAddonOptions): Promise<void>
  applyAddon(addon: Addon, options: ApplyAddonOptions): Promise<ApplyAddonResult>
  removeAddon(name: string, options: ApplyAddonOptions): Promise<ApplyAddonResult>
}

/** State of the cluster as read from its API. */
export interface ApiState {
  readonly nodes: readonly Node[]
  /**
   * Versions of the reachable API servers, without a leading v. For a server that emulates a minor version,
   * that minor.
   */
  readonly versions: readonly string[]
  /** Changes that bring the objects managed by hyperkube to their desired state. */
  readonly objects: readonly ClusterObjectChange[]
  /** Nodes on which an interrupted run has left a smoke test pod. */
  readonly smokeTestNodes: readonly string[]
  readonly addons: AddonProposal
}
