import type { Finding } from '../contract/finding.ts'
import { formatNames } from '../kit/text.ts'
import { type ClusterState, listJoiningMembers } from './cluster-state.ts'
import { canStartStoppedMembers, formatLeaveOutHint, formatRemovalHint } from './etcd-findings.ts'
import { hasStageChanges, isDisrupted, listHostNames, type RolloutHost } from './host.ts'
import { toleratesLoss } from '../kit/quorum.ts'

/** Reports unreachable control planes and etcd members, and API downtime. */
export function controlPlaneFindings(state: ClusterState): Finding[] {
  const unreachable = state.hosts.filter((host) => !host.reachable && isNeeded(host))
  return [
    ...unreachable.flatMap((host) => unreachableFindings(state, host)),
    ...(unreachable.length === 0 ? downtimeFindings(state) : []),
    ...state.reachableHosts.flatMap(roleFindings),
  ]
}

function isNeeded({ member, controlPlane, live }: RolloutHost): boolean {
  return member || controlPlane || live.member || live.controlPlane
}

function unreachableFindings(state: ClusterState, host: RolloutHost): Finding[] {
  const { name, member, live } = host
  // At bootstrap, etcdFindings already reports unreachable members, so this function leaves them out.
  if (state.bootstrap.etcd && member && !canStartStoppedMembers(state)) return []
  const base = { code: 'ROLLOUT_CONTROL_PLANE_UNREACHABLE', host: name }
  const reason = explainRefusal(state, host)
  if (reason === undefined) {
    const message = 'unreachable and skipped; the other hosts are changed'
    return [{ ...base, severity: 'warning', message, hint: 'when the host is reachable again: hyperkube up' }]
  }
  const hint = live.member || live.controlPlane ? formatRemovalHint(name) : formatLeaveOutHint(name)
  return [{ ...base, severity: 'error', message: `unreachable, and ${reason}`, hint }]
}

/**
 * Explains why the rollout must wait for this unreachable host. Returns undefined if the rollout can leave
 * the host out.
 */
function explainRefusal(state: ClusterState, { controlPlane, live }: RolloutHost): string | undefined {
  if (state.bootstrap.controlPlanes && controlPlane) return 'the bootstrap needs all control planes'
  if (!live.controlPlane) return undefined
  const restartsApi = state.reachableHosts.some((host) => host.live.controlPlane && isDisrupted(host, 'api'))
  if (restartsApi && listServers(state).length < 2) return 'the last reachable API server would restart'
  // A drain means that a kubelet gets another minor version. No kubelet may be newer than the oldest API
  // server, and this unreachable host may have the oldest one.
  return state.reachableHosts.some(({ drain }) => drain)
    ? 'other hosts would get kubelets of another minor version than its API server'
    : undefined
}

/**
 * Lists the control planes whose API server is running when the first existing API server restarts. New API
 * servers are included, because they start before any restart.
 */
function listServers({ reachableHosts }: ClusterState): readonly RolloutHost[] {
  return reachableHosts.filter(
    (host) => host.controlPlane && (host.live.controlPlane || hasStageChanges(host, 'api')),
  )
}

/**
 * Warns about API downtime: a restart of the only API server, or of etcd with one or two members, interrupts
 * the API.
 */
function downtimeFindings(state: ClusterState): Finding[] {
  const { reachableHosts, voters } = state
  const members = voters.length + listJoiningMembers(state).length
  const etcd = reachableHosts.filter(
    (host) => host.live.member && isDisrupted(host, 'etcd') && !toleratesLoss(members),
  )
  const api = reachableHosts.filter((host) => host.live.controlPlane && isDisrupted(host, 'api'))
  const singleApi = listServers(state).length < 2 ? api : []
  const hosts = [...new Set(listHostNames([...etcd, ...singleApi]))].toSorted()
  if (hosts.length === 0) return []
  const message = `the API will be briefly unavailable: etcd or the API server restarts on ${formatNames(hosts)}, and no other can take over`
  return [{ code: 'ROLLOUT_API_DOWNTIME', severity: 'warning', message }]
}

/**
 * Refuses to take a role from a live host: the host must be removed first, because its peers rely on the
 * role.
 */
function roleFindings({ name, member, controlPlane, node, live }: RolloutHost): Finding[] {
  const lostRoles = [
    ...(live.member && !member ? ['an etcd member'] : []),
    ...(live.controlPlane && !controlPlane ? ['a control plane'] : []),
    ...(live.node && !node ? ['a node'] : []),
  ]
  if (lostRoles.length === 0) return []
  return [
    {
      code: 'ROLLOUT_ROLE_REMOVED',
      severity: 'error',
      message: `is ${formatNames(lostRoles)} in the cluster, but not in cluster.yml; roles cannot be removed in place`,
      hint: `hyperkube node remove ${name}, then add it again with its new roles`,
      host: name,
    },
  ]
}
