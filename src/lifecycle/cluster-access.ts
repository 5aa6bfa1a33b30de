import type { Addon } from '../addons/addon.ts'
import type { HostAddress } from '../plan/topology.ts'
import type { ApplyAddonResult, ApplyAddonOptions } from '../addons/apply-addon.ts'
import type { Finding } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { AddonProposal, AddonProposalInput } from './addons/proposal.ts'
import type { ClusterObjectChange } from './cluster-objects/changes.ts'
import type { Node } from './cluster-objects/node.ts'
import type { KnownEtcdMember } from './known-etcd-member.ts'
import type { SmokeTestPods } from './smoke-test/smoke-test-pods.ts'

/** Why a component or node is not ready yet; undefined if it is ready. */
export type NotReadyReason = string | undefined

/** Reads the state of a cluster through etcd and the API, without agents. */
export interface ClusterReader {
  /** The member list that etcd confirms with a quorum; empty if etcd does not answer. */
  members(): Promise<readonly KnownEtcdMember[]>
  /** The member list that a single member has stored, for an etcd without quorum. */
  unconfirmedMembers(): Promise<readonly KnownEtcdMember[]>
  /** etcd cluster id of each reachable member, by host. */
  etcdIds(): Promise<ReadonlyMap<string, string>>
  /**
   * Reads the state of the API; undefined if no API server is ready. Addons are compared only if `addons` is
   * given.
   */
  readApiState(addons?: AddonProposalInput): Promise<ApiState | undefined>
  /** Checks the etcd members of these hosts. */
  etcdHealthy(hosts: readonly string[]): Promise<NotReadyReason>
  apiReady(hosts: readonly string[]): Promise<NotReadyReason>
  controllersReady(host: string): Promise<NotReadyReason>
  nodesReady(hosts: readonly string[]): Promise<NotReadyReason>
  isVoter(host: string): Promise<NotReadyReason>
  /** Findings about draining these hosts. */
  drainFindings(hosts: readonly string[]): Promise<readonly Finding[]>
  /** Findings about APIs that clients still request but the desired version no longer serves. */
  removedApis(desiredVersion: string): Promise<readonly Finding[]>
}

/** State of the cluster as read from its API. */
export interface ApiState {
  readonly nodes: readonly Node[]
  /** Versions of the reachable API servers, without a leading v. */
  readonly versions: readonly string[]
  /** Changes to objects that hyperkube manages. */
  readonly objects: readonly ClusterObjectChange[]
  /** Nodes on which an interrupted run has left a smoke test pod. */
  readonly smokeTestNodes: readonly string[]
  readonly addons: AddonProposal
}

/** How long to wait, and where to report the reason for waiting. */
export interface ClusterWaitOptions {
  readonly waiting: (reason: string, since: string) => void
  readonly timeoutMs: number
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Changes the etcd members and nodes of a cluster. */
export interface Membership {
  /**
   * Adds a host to etcd as a learner. Returns all members, because the configuration of the new member lists
   * them.
   */
  joinEtcd(host: string, wait: ClusterWaitOptions): Promise<readonly HostAddress[]>
  /** Promotes the learner once it is in sync. */
  promote(host: string, wait: ClusterWaitOptions): Promise<void>
  removeEtcdMember(host: string): Promise<void>
  /** Evicts the pods of a host. For a lost host only the pod objects are deleted. */
  drain(host: string, wait: ClusterWaitOptions & { readonly lost: boolean }): Promise<void>
  /** Allows pods on the node again. */
  uncordon(host: string): Promise<void>
  removeNode(host: string): Promise<void>
}

/** Changes a cluster through its API. */
export interface ClusterWriter extends Membership {
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
