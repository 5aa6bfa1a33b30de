import type { Finding } from '../contract/finding.ts'
import { formatNames } from '../kit/text.ts'
import { type ClusterState, listRemainingMembers } from './cluster-state.ts'
import type { RemovedHost } from './input.ts'
import { quorumSize } from '../kit/quorum.ts'
import type { Gate, RemoveStep } from './step.ts'

/**
 * Builds the removals of unreachable hosts. These steps run first, because etcd accepts no new member while
 * an existing member is down.
 */
export function buildUnreachableRemovalSteps({ removedHosts }: ClusterState): RemoveStep[] {
  return removedHosts.filter(({ reachable }) => !reachable).map((host) => buildRemoveStep(host, []))
}

/**
 * Builds the removals of reachable hosts. These steps run last and one by one, after new hosts have joined.
 */
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

/** Reports data that is lost with removed hosts, and reasons that block a removal. */
export function removalFindings(state: ClusterState): Finding[] {
  return [...remainingQuorumFindings(state), ...unreachableRemovalFindings(state)]
}

/** Refuses a removal that leaves etcd without a healthy quorum. */
function remainingQuorumFindings(state: ClusterState): Finding[] {
  const { removedHosts, unreachableVoters, hosts, bootstrap } = state
  const removedMembers = removedHosts.filter(({ live }) => live.member).map(({ host }) => host)
  if (removedMembers.length === 0 || bootstrap.etcd) return []
  const remaining = listRemainingMembers(state)
  const unreachable = new Set(unreachableVoters)
  const healthy = remaining.filter((name) => !unreachable.has(name)).length
  const needed = quorumSize(remaining.length)
  if (hosts.some(({ member, reachable }) => member && reachable) && healthy >= needed) return []
  return [
    {
      code: 'ROLLOUT_QUORUM',
      severity: 'error',
      message: `without ${formatNames(removedMembers)}, ${healthy} of ${remaining.length} etcd members would be healthy, and ${needed} are needed`,
      hint: 'make the other members healthy first: hyperkube etcd status; remove one host at a time',
    },
  ]
}

function unreachableRemovalFindings({ removedHosts }: ClusterState): Finding[] {
  return removedHosts
    .filter(({ reachable }) => !reachable)
    .map(({ host }) => ({
      code: 'ROLLOUT_REMOVED_UNREACHABLE',
      severity: 'warning',
      message:
        'no connection: the host is removed from the cluster without its agent, and its pods count as lost',
      hint: 'make sure that the host stays off: it still has its keys and is not reset',
      host,
    }))
}
