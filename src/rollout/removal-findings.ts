import type { Finding } from '../contract/finding.ts'
import { minHealthyMembers } from './quorum.ts'
import { type ClusterState, listRemainingMembers } from './cluster-state.ts'
import { formatNames } from './format-names.ts'

/** Findings about removed hosts: data that is lost, and reasons that block a removal. */
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
  const needed = minHealthyMembers(remaining.length)
  if (hosts.some(({ member, reachable }) => member && reachable) && healthy >= needed) return []
  return [
    {
      code: 'ROLLOUT_QUORUM',
      severity: 'error',
      message: `without ${formatNames(removedMembers)}, ${healthy} of ${remaining.length} members of etcd would be well, and ${needed} are needed`,
      hint: 'bring the others back first; one host at a time may leave',
    },
  ]
}

function unreachableRemovalFindings({ removedHosts }: ClusterState): Finding[] {
  return removedHosts
    .filter(({ reachable }) => !reachable)
    .map(({ host }) => ({
      code: 'ROLLOUT_REMOVED_UNREACHABLE',
      severity: 'warning',
      message: 'does not answer, and is removed from the cluster without its agent; its pods count as lost',
      hint: 'make sure that it is off for good: it still has its keys, and is not reset',
      host,
    }))
}
