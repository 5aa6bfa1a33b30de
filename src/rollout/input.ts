import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'

/** Which hosts are part of the cluster already. All empty before there is one. */
export interface Live {
  /** Those who vote: one that still learns is no member yet. */
  readonly etcd: readonly string[]
  /** Those with an etcd of their own. Asked only when nobody is known to vote: perhaps all of them are stopped. */
  readonly etcdThere?: readonly string[]
  /** Those with an API server. */
  readonly controlPlanes: readonly string[]
  readonly nodes: readonly string[]
}

/** What a host is, or shall be. */
export interface Roles {
  /** Of etcd. */
  readonly member: boolean
  readonly controlPlane: boolean
  readonly node: boolean
}

/** A host that is part of the cluster, and is not wished any more. */
export interface Leaving {
  readonly host: string
  readonly answers: boolean
  /** What it is until it has left. */
  readonly live: Roles
}

export interface RolloutInput {
  readonly plans: readonly NodePlan[]
  /** What is to be done, by name of host. */
  readonly ops: ReadonlyMap<string, readonly Op[]>
  readonly live: Live
  /** Hosts that do not answer. They need no plan. */
  readonly unreachable: readonly string[]
  /** What hosts without a plan shall be, by name. One that is not in it is what it is now, or else a worker. */
  readonly wished: ReadonlyMap<string, Roles>
  /** They have no plan, and are no longer among the hosts of cluster.yml. */
  readonly leaving: readonly Leaving[]
  /** How many workers may be away at once, as cluster.yml says it: 3, or 10%. */
  readonly maxUnavailable: number | string
  /** The version of the kubelet that runs now, by name of host. */
  readonly kubeletBefore: ReadonlyMap<string, string>
  readonly etcdLeader?: string
}
