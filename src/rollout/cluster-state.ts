import { buildRolloutHost, isWorker, listHostNames, type RolloutHost } from './host.ts'
import type { RemovedHost, RolloutInput } from './input.ts'

/** State of the whole cluster before a rollout. Hosts are sorted by name. */
export interface ClusterState {
  readonly hosts: readonly RolloutHost[]
  readonly reachableHosts: readonly RolloutHost[]
  /** Names of the current voting etcd members. Unreachable hosts that are being removed are not included. */
  readonly voters: readonly string[]
  readonly unreachableVoters: readonly string[]
  /** Hosts that cluster.yml no longer lists, sorted by name. */
  readonly removedHosts: readonly RemovedHost[]
  readonly leader: string | undefined
  /** Hosts on which etcd is installed, if no etcd member responds. Empty if any member responds. */
  readonly stoppedMembers: readonly string[]
  /** True for each part that still has to be bootstrapped. */
  readonly bootstrap: { readonly etcd: boolean; readonly controlPlanes: boolean; readonly nodes: boolean }
  /** Maximum number of workers that may be unavailable at once. */
  readonly maxUnavailableWorkers: number
  /** Unreachable workers. Each of them counts toward `maxUnavailableWorkers`. */
  readonly unreachableWorkers: readonly string[]
}

export function buildClusterState(input: RolloutInput): ClusterState {
  const { plans, live, unreachable } = input
  const sets = {
    member: new Set(live.etcd),
    controlPlane: new Set(live.controlPlanes),
    node: new Set(live.nodes),
    unreachable: new Set(unreachable),
  }
  const plansByHost = new Map(plans.map((plan) => [plan.host, plan]))
  const names = [...new Set([...plansByHost.keys(), ...unreachable])].toSorted()
  const hosts = names.map((name) => buildRolloutHost(name, plansByHost.get(name), sets, input))
  const removedHosts = input.removedHosts.toSorted((a, b) => (a.host < b.host ? -1 : 1))
  // Unreachable hosts to remove do not count as voters, because the rollout removes them from etcd before any
  // other step.
  const unreachableRemoved = new Set(
    removedHosts.filter(({ reachable }) => !reachable).map(({ host }) => host),
  )
  const voters = [...sets.member].filter((name) => !unreachableRemoved.has(name)).toSorted()
  const bootstrap = {
    etcd: live.etcd.length === 0,
    controlPlanes: live.controlPlanes.length === 0,
    nodes: live.nodes.length === 0,
  }
  // Only workers that have joined the cluster count. Before the first node has joined, all workers count.
  const countedWorkers = hosts.filter((host) => isWorker(host) && (bootstrap.nodes || host.live.node))
  return {
    hosts,
    reachableHosts: hosts.filter(({ reachable }) => reachable),
    voters,
    unreachableVoters: voters.filter((name) => sets.unreachable.has(name)),
    removedHosts,
    leader: input.etcdLeader,
    stoppedMembers: bootstrap.etcd ? (live.etcdInstalled ?? []).toSorted() : [],
    bootstrap,
    maxUnavailableWorkers: resolveMaxUnavailable(input.maxUnavailable, countedWorkers.length),
    unreachableWorkers: countedWorkers.filter(({ reachable }) => !reachable).map(({ name }) => name),
  }
}

/**
 * Lists the reachable hosts that become etcd members. Empty at bootstrap, when all members start together.
 */
export function listJoiningMembers({ reachableHosts, bootstrap }: ClusterState): readonly RolloutHost[] {
  return bootstrap.etcd ? [] : reachableHosts.filter(({ member, live }) => member && !live.member)
}

/** Lists the voting etcd members that remain after the rollout. */
export function listRemainingMembers(state: ClusterState): readonly string[] {
  const removedNames = new Set(state.removedHosts.map(({ host }) => host))
  const voters = state.voters.filter((name) => !removedNames.has(name))
  return [...voters, ...listHostNames(listJoiningMembers(state))].toSorted()
}

/**
 * Computes how many workers may be unavailable at once. The result is at least one, because otherwise no
 * worker could be changed.
 */
export function resolveMaxUnavailable(setting: number | string, workers: number): number {
  const percent = typeof setting === 'string' ? /^(\d+)%$/.exec(setting)?.[1] : undefined
  const count = percent === undefined ? Number(setting) : Math.floor((workers * Number(percent)) / 100)
  return count >= 1 ? Math.floor(count) : 1
}
