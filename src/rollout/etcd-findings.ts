import type { Finding } from '../contract/finding.ts'
import { formatNames } from '../kit/text.ts'
import { type ClusterState, listJoiningMembers } from './cluster-state.ts'
import { isDisrupted, listHostNames } from './host.ts'
import { quorumSize } from '../kit/quorum.ts'

/** Reports changes that would cost etcd its quorum. */
export function etcdFindings(state: ClusterState): Finding[] {
  return state.bootstrap.etcd ? bootstrapFindings(state) : quorumLossFindings(state)
}

/**
 * True if etcd is installed on enough hosts for a quorum. Starting these stopped members is then sufficient,
 * even if other members are unreachable.
 */
export function canStartStoppedMembers({ hosts, stoppedMembers: subject }: ClusterState): boolean {
  return subject.length >= quorumSize(hosts.filter(({ member }) => member).length)
}

function bootstrapFindings(state: ClusterState): Finding[] {
  const { hosts, bootstrap } = state
  if (canStartStoppedMembers(state)) return []
  if (!bootstrap.controlPlanes || !bootstrap.nodes) {
    const message = 'the cluster has hosts, but no etcd member is known; a new etcd would be empty'
    return [quorumFinding(message, 'restore a snapshot: hyperkube etcd snapshot restore NAME')]
  }
  return hosts
    .filter(({ member, reachable }) => member && !reachable)
    .map(({ name }) => ({
      ...quorumFinding('unreachable, and the bootstrap needs all etcd members', formatLeaveOutHint(name)),
      host: name,
    }))
}

function quorumLossFindings(state: ClusterState): Finding[] {
  const { voters, unreachableVoters, reachableHosts } = state
  const [unreachable] = unreachableVoters
  if (unreachable === undefined) return []
  const healthy = voters.length - unreachableVoters.length
  const needed = quorumSize(voters.length)
  const subject = `${formatNames(unreachableVoters)} ${unreachableVoters.length === 1 ? 'is' : 'are'} unreachable`
  if (healthy < needed) {
    const message = `etcd has no quorum: ${subject}, and ${needed} of ${voters.length} members are needed`
    return [
      quorumFinding(
        message,
        'make these members reachable; if they are lost permanently: hyperkube etcd recover',
      ),
    ]
  }
  const joining = listHostNames(listJoiningMembers(state))
  if (joining.length > 0) {
    // etcd itself also refuses to add a member while another member is down, because an additional voter
    // could raise the quorum.
    return [
      quorumFinding(
        `${formatNames(joining)} cannot join etcd while ${subject}`,
        formatRemovalHint(unreachable),
      ),
    ]
  }
  const restartsEtcd = reachableHosts.some((host) => host.live.member && isDisrupted(host, 'etcd'))
  if (!restartsEtcd || healthy - 1 >= needed) return []
  const message = `${subject}: a restart of etcd would leave ${healthy - 1} of ${voters.length} members, and ${needed} are needed`
  return [quorumFinding(message, formatRemovalHint(unreachable))]
}

function quorumFinding(message: string, hint: string): Finding {
  return { code: 'ROLLOUT_QUORUM', severity: 'error', message, hint }
}

/** Formats the hint for an unreachable host that is not part of the cluster yet. */
export function formatLeaveOutHint(host: string): string {
  return `make ${host} reachable, or remove it from cluster.yml; then: hyperkube up`
}

export function formatRemovalHint(host: string): string {
  return `make ${host} reachable, then: hyperkube up; if it is lost permanently: hyperkube node remove ${host}`
}
