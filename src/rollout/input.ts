import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'

/** Hosts that are already part of the cluster. All lists are empty before bootstrap. */
export interface LiveHosts {
  /** Voting members. A learner is not listed. */
  readonly etcd: readonly string[]
  /**
   * Hosts on which etcd is installed. Used only if `etcd` is empty: etcd may then be installed and stopped,
   * or not exist yet.
   */
  readonly etcdInstalled?: readonly string[]
  /** Hosts with an API server. */
  readonly controlPlanes: readonly string[]
  readonly nodes: readonly string[]
}

/** Current or desired roles of a host. */
export interface HostRoles {
  /** True for an etcd member. */
  readonly member: boolean
  readonly controlPlane: boolean
  readonly node: boolean
}

/** A host of the cluster that cluster.yml no longer lists. */
export interface RemovedHost {
  readonly host: string
  readonly reachable: boolean
  /** Roles that the host has before its removal. */
  readonly live: HostRoles
}

export interface RolloutInput {
  readonly plans: readonly NodePlan[]
  /** Ops by host name. */
  readonly ops: ReadonlyMap<string, readonly Op[]>
  readonly live: LiveHosts
  /** Names of unreachable hosts. An unreachable host may have no plan. */
  readonly unreachable: readonly string[]
  /**
   * Desired roles of hosts without a plan, by host name. A host that is not listed keeps its current roles. A
   * host without current roles becomes a worker.
   */
  readonly desiredRoles: ReadonlyMap<string, HostRoles>
  /** Hosts that cluster.yml no longer lists. They have no plan. */
  readonly removedHosts: readonly RemovedHost[]
  /** Maximum number or percentage of unavailable workers, as in cluster.yml: `3` or `10%`. */
  readonly maxUnavailable: number | string
  /** Version of the running kubelet, by host name. */
  readonly currentKubelets: ReadonlyMap<string, string>
  readonly etcdLeader?: string
}
