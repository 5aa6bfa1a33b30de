import { type Host, hostOf, isWorker, namesOf } from './host.ts'
import type { Leaving, RolloutInput } from './input.ts'
import { maxUnavailable } from './max-unavailable.ts'

/** The whole cluster, in the order of its hosts' names. */
export interface Scene {
  readonly hosts: readonly Host[]
  /** Those of the hosts that answer. */
  readonly answering: readonly Host[]
  /** Who votes in etcd now, also where a host has no plan. */
  readonly voters: readonly string[]
  readonly votersAway: readonly string[]
  /** Hosts that are not wished any more, in the order of their names. */
  readonly leaving: readonly Leaving[]
  readonly leader: string | undefined
  /** Members that were born before, but of which none answers now. */
  readonly silent: readonly string[]
  /** Whether etcd, the control planes and the nodes have yet to come into being. */
  readonly birth: { readonly etcd: boolean; readonly controlPlanes: boolean; readonly nodes: boolean }
  /** How many workers may be away at once. */
  readonly mayBeAway: number
  /** Workers that do not answer and are missed by somebody. */
  readonly workersAway: readonly string[]
}

export function sceneOf(input: RolloutInput): Scene {
  const { plans, live, unreachable } = input
  const sets = {
    member: new Set(live.etcd),
    controlPlane: new Set(live.controlPlanes),
    node: new Set(live.nodes),
    away: new Set(unreachable),
  }
  const planOf = new Map(plans.map((plan) => [plan.host, plan]))
  const names = [...new Set([...planOf.keys(), ...unreachable])].toSorted()
  const hosts = names.map((name) => hostOf(name, planOf.get(name), sets, input))
  const leaving = input.leaving.toSorted((a, b) => (a.host < b.host ? -1 : 1))
  // Those that are lost are taken out before anything else.
  const lost = new Set(leaving.filter(({ answers }) => !answers).map(({ host }) => host))
  const voters = [...sets.member].filter((name) => !lost.has(name)).toSorted()
  const birth = {
    etcd: live.etcd.length === 0,
    controlPlanes: live.controlPlanes.length === 0,
    nodes: live.nodes.length === 0,
  }
  // One that never was part of the cluster is missed by nobody.
  const counted = hosts.filter((host) => isWorker(host) && (birth.nodes || host.live.node))
  return {
    hosts,
    answering: hosts.filter(({ answers }) => answers),
    voters,
    votersAway: voters.filter((name) => sets.away.has(name)),
    leaving,
    leader: input.etcdLeader,
    silent: birth.etcd ? (live.etcdThere ?? []).toSorted() : [],
    birth,
    mayBeAway: maxUnavailable(input.maxUnavailable, counted.length),
    workersAway: counted.filter(({ answers }) => !answers).map(({ name }) => name),
  }
}

/** Reachable members that do not vote yet, in a cluster whose etcd runs. */
export function joiningMembers({ answering, birth }: Scene): readonly Host[] {
  return birth.etcd ? [] : answering.filter(({ member, live }) => member && !live.member)
}

/** Who votes in etcd when all is done. */
export function stayingMembers(scene: Scene): readonly string[] {
  const going = new Set(scene.leaving.map(({ host }) => host))
  const voters = scene.voters.filter((name) => !going.has(name))
  return [...voters, ...namesOf(joiningMembers(scene))].toSorted()
}
