import type { Finding } from '../contract/finding.ts'
import { canStartStoppedMembers, formatLeaveOutHint, formatRemovalHint } from './etcd-findings.ts'
import { toleratesLoss } from './quorum.ts'
import { type RolloutHost, isDisrupted, hasStageChanges, listHostNames } from './host.ts'
import { listJoiningMembers, type ClusterState } from './cluster-state.ts'
import { formatNames } from './format-names.ts'

/** Findings about unreachable control planes and etcd members, and about API downtime. */
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
  // Already reported for etcd as a whole.
  if (state.bootstrap.etcd && member && !canStartStoppedMembers(state)) return []
  const base = { code: 'ROLLOUT_CONTROL_PLANE_UNREACHABLE', host: name }
  const reason = explainRefusal(state, host)
  if (reason === undefined) {
    const message = 'left behind, and the others go on'
    return [{ ...base, severity: 'warning', message, hint: 'when it answers: hyperkube up' }]
  }
  const hint = live.member || live.controlPlane ? formatRemovalHint(name) : formatLeaveOutHint(name)
  return [{ ...base, severity: 'error', message: `does not answer, and ${reason}`, hint }]
}

/** Says why nothing can be done without a host, or undefined if the rollout can continue. */
function explainRefusal(state: ClusterState, { controlPlane, live }: RolloutHost): string | undefined {
  if (state.bootstrap.controlPlanes && controlPlane)
    return 'a cluster is founded with all of its control planes'
  if (!live.controlPlane) return undefined
  const restartsApi = state.reachableHosts.some((host) => host.live.controlPlane && isDisrupted(host, 'api'))
  if (restartsApi && listServers(state).length < 2)
    return 'the last API server that does would have to restart'
  // Kubelets must not be newer than the oldest API server.
  return state.reachableHosts.some(({ drain }) => drain)
    ? 'kubelets of another minor version would have to live with its API server'
    : undefined
}

/** API servers that serve by the time the first one restarts. */
function listServers({ reachableHosts }: ClusterState): readonly RolloutHost[] {
  return reachableHosts.filter(
    (host) => host.controlPlane && (host.live.controlPlane || hasStageChanges(host, 'api')),
  )
}

/** With a single etcd or API server its restart interrupts the API. */
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
  const message = `the API will be away for moments: etcd or the API server restarts on ${formatNames(hosts)}, and no other can stand in`
  return [{ code: 'ROLLOUT_API_DOWNTIME', severity: 'warning', message }]
}

/** A host must be removed before it loses a role; otherwise its peers keep relying on it. */
function roleFindings({ name, member, controlPlane, node, live }: RolloutHost): Finding[] {
  const lostRoles = [
    ...(live.member && !member ? ['a member of etcd'] : []),
    ...(live.controlPlane && !controlPlane ? ['a control plane'] : []),
    ...(live.node && !node ? ['a node'] : []),
  ]
  if (lostRoles.length === 0) return []
  return [
    {
      code: 'ROLLOUT_ROLE_REMOVED',
      severity: 'error',
      message: `is ${formatNames(lostRoles)}, and cluster.yml removes that role`,
      hint: `hyperkube node remove ${name}, then add it again with its new roles`,
      host: name,
    },
  ]
}
