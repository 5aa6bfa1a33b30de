import { toleratesLoss } from '../kit/quorum.ts'
import { type RolloutHost, isDisrupted, hasStageChanges, listHostNames } from './host.ts'
import { listJoiningMembers, type ClusterState } from './cluster-state.ts'
import { buildApiGates, restartsApiWithEtcd } from './control-plane-steps.ts'
import { type Gate, type RolloutStep, buildApplyStep } from './step.ts'

/**
 * Builds the steps for etcd: all members in parallel at bootstrap, otherwise one by one. New members join
 * before existing members restart, because etcd then tolerates more failures. A failing new member also stops
 * the run before anything else changes.
 */
export function etcdSteps(state: ClusterState): RolloutStep[] {
  return state.bootstrap.etcd ? bootstrapSteps(state) : [...joinSteps(state), ...changeSteps(state)]
}

/**
 * Starts all etcd members in one step. Installed members that are stopped are included, because a member that
 * starts alone could not reach a quorum.
 */
function bootstrapSteps({ reachableHosts, stoppedMembers }: ClusterState): RolloutStep[] {
  const members = reachableHosts.filter(({ member }) => member)
  const hosts = listHostNames(
    members.filter((host) => hasStageChanges(host, 'etcd') || stoppedMembers.includes(host.name)),
  )
  if (hosts.length === 0) return []
  return [
    buildApplyStep({
      hosts,
      stage: 'etcd',
      after: [{ kind: 'etcd-healthy', members: listHostNames(members) }],
    }),
  ]
}

/**
 * Adds members one by one, because etcd accepts only one learner at a time. A learner is included even
 * without ops, if an earlier run was interrupted before it promoted the learner.
 */
function joinSteps(state: ClusterState): RolloutStep[] {
  const joining = listHostNames(listJoiningMembers(state))
  return joining.map((host, index) => {
    const members = [...state.voters, ...joining.slice(0, index)].toSorted()
    return buildApplyStep({
      hosts: [host],
      stage: 'etcd',
      // etcd accepts no new member while an existing member is unhealthy, so all members must be healthy
      // first.
      before: [{ kind: 'etcd-healthy', members }],
      after: [{ kind: 'etcd-member-promoted', host }],
    })
  })
}

/**
 * Changes existing members one by one. If the API server of the host restarts too, one step restarts both.
 */
function changeSteps(state: ClusterState): RolloutStep[] {
  const { reachableHosts, voters, unreachableVoters, leader } = state
  const members = [...voters, ...listHostNames(listJoiningMembers(state))].toSorted()
  const unreachable = new Set(unreachableVoters)
  const healthyGate: Gate = {
    kind: 'etcd-healthy',
    members: members.filter((name) => !unreachable.has(name)),
  }
  const changedHosts = reachableHosts.filter((host) => host.live.member && hasStageChanges(host, 'etcd'))
  return sortLeaderLast(changedHosts, leader).map((host) => {
    const disruptive = isDisrupted(host, 'etcd')
    const quorumGate: Gate = toleratesLoss(members.length)
      ? { kind: 'etcd-quorum-without', host: host.name, members }
      : healthyGate
    const before = disruptive ? [quorumGate] : []
    if (!restartsApiWithEtcd(state, host)) {
      return buildApplyStep({ hosts: [host.name], stage: 'etcd', before, after: [healthyGate], disruptive })
    }
    const apiGates = buildApiGates(state, host.name)
    return buildApplyStep({
      hosts: [host.name],
      stage: 'api',
      stages: ['etcd', 'api'],
      before: [...before, ...apiGates.before],
      after: [healthyGate, ...apiGates.after],
      disruptive,
    })
  })
}

/** Puts the leader last, so that leadership moves only once. */
function sortLeaderLast(hosts: readonly RolloutHost[], leader: string | undefined): RolloutHost[] {
  return [...hosts.filter(({ name }) => name !== leader), ...hosts.filter(({ name }) => name === leader)]
}
