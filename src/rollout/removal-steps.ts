import type { RemovedHost } from './input.ts'
import { type ClusterState, listRemainingMembers } from './cluster-state.ts'
import type { Gate, RemoveStep } from './step.ts'

/**
 * Builds the removals of unreachable hosts. They run first, because etcd accepts no new member while another
 * one is down.
 */
export function buildUnreachableRemovalSteps({ removedHosts }: ClusterState): RemoveStep[] {
  return removedHosts.filter(({ reachable }) => !reachable).map((host) => buildRemoveStep(host, []))
}

/** Builds the removals of reachable hosts. They run last and one by one, after new hosts have joined. */
export function buildRemovalSteps(state: ClusterState): RemoveStep[] {
  const { removedHosts } = state
  const remaining = listRemainingMembers(state)
  const healthyGates: readonly Gate[] =
    remaining.length === 0 ? [] : [{ kind: 'etcd-healthy', members: remaining }]
  const workersFirst = removedHosts.toSorted((a, b) => countCoreRoles(a) - countCoreRoles(b))
  return workersFirst
    .filter(({ reachable }) => reachable)
    .map((host) => buildRemoveStep(host, host.live.member ? healthyGates : []))
}

function countCoreRoles({ live }: RemovedHost): number {
  return Number(live.controlPlane) + Number(live.member)
}

function buildRemoveStep({ host, reachable, live }: RemovedHost, before: readonly Gate[]): RemoveStep {
  return {
    id: `remove/${host}`,
    kind: 'remove',
    hosts: [host],
    host,
    live,
    unreachable: !reachable,
    before,
    after: [],
    drain: live.node && reachable,
    disruptive: true,
  }
}
