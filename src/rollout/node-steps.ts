import type { Stage } from '../contract/component-plan.ts'
import type { Finding } from '../contract/finding.ts'
import { formatNames } from '../kit/text.ts'
import type { ClusterState } from './cluster-state.ts'
import { hasStageChanges, isDisrupted, isWorker, listHostNames, type RolloutHost } from './host.ts'
import { buildApplyStep, type Gate, type RolloutStep } from './step.ts'

/**
 * Builds the steps for kubelets and the pod network. In a running cluster one step applies both, so that each
 * host is disrupted only once.
 */
export function nodeSteps(state: ClusterState): RolloutStep[] {
  return state.bootstrap.nodes ? bootstrapSteps(state) : [...joinSteps(state), ...changeSteps(state)]
}

function bootstrapSteps({ reachableHosts }: ClusterState): RolloutStep[] {
  return (['node', 'network'] as const).flatMap((stage) => {
    const hosts = reachableHosts.filter((host) => host.node && hasStageChanges(host, stage))
    if (hosts.length === 0) return []
    return [
      buildApplyStep({
        hosts: listHostNames(hosts),
        stage,
        after: stage === 'network' ? bootstrapGates(hosts) : [],
      }),
    ]
  })
}

/**
 * Builds the gates for new nodes at bootstrap. Hosts without a managed network are not checked for readiness:
 * their network plugin can be installed only after bootstrap.
 */
function bootstrapGates(hosts: readonly RolloutHost[]): Gate[] {
  const managedHosts = listHostNames(hosts.filter(({ managedNetwork }) => managedNetwork))
  if (managedHosts.length === 0) return []
  return [
    { kind: 'network-ready', hosts: managedHosts },
    { kind: 'nodes-ready', hosts: managedHosts },
  ]
}

/**
 * Builds the step for new nodes. This step comes first because it disrupts nothing, and new nodes can take
 * the pods of drained nodes.
 */
function joinSteps({ reachableHosts }: ClusterState): RolloutStep[] {
  return buildNodeStep(reachableHosts.filter(({ node, live }) => node && !live.node).filter(hasNodeChanges))
}

function changeSteps({
  reachableHosts,
  maxUnavailableWorkers,
  unreachableWorkers,
}: ClusterState): RolloutStep[] {
  const changedNodes = reachableHosts.filter(({ live }) => live.node).filter(hasNodeChanges)
  const workers = changedNodes.filter(isWorker)
  const freeSlots = maxUnavailableWorkers - unreachableWorkers.length
  return [
    ...changedNodes.filter((host) => !isWorker(host)).flatMap((host) => buildNodeStep([host])),
    // Workers without a restart stay available, so they are all changed at once.
    ...buildNodeStep(workers.filter((host) => !isNodeDisrupted(host))),
    ...toBatches(
      workers.filter((host) => isNodeDisrupted(host) && !host.drain),
      freeSlots,
    ).flatMap(buildNodeStep),
    ...toBatches(
      workers.filter(({ drain }) => drain),
      freeSlots,
    ).flatMap(buildNodeStep),
  ]
}

/** True if the node may become unavailable during the step. */
function isNodeDisrupted(host: RolloutHost): boolean {
  return host.live.node && (host.drain || isDisrupted(host, ...nodeStages))
}

const nodeStages: readonly Stage[] = ['node', 'network']

function hasNodeChanges(host: RolloutHost): boolean {
  return hasStageChanges(host, ...nodeStages)
}

function buildNodeStep(hosts: readonly RolloutHost[]): RolloutStep[] {
  if (hosts.length === 0) return []
  const names = listHostNames(hosts)
  const stepStages = nodeStages.filter((stage) => hosts.some((host) => hasStageChanges(host, stage)))
  const network = stepStages.includes('network')
  return [
    buildApplyStep({
      hosts: names,
      stage: network ? 'network' : 'node',
      stages: stepStages,
      after: [
        ...(network ? [{ kind: 'network-ready', hosts: names } as const] : []),
        { kind: 'nodes-ready', hosts: names },
      ],
      drain: hosts.some(({ drain }) => drain),
      disruptive: hosts.some(isNodeDisrupted),
    }),
  ]
}

function toBatches(hosts: readonly RolloutHost[], size: number): RolloutHost[][] {
  if (size < 1) return []
  const count = Math.ceil(hosts.length / size)
  return Array.from({ length: count }, (_, index) => hosts.slice(index * size, (index + 1) * size))
}

/** Warns that unreachable workers are skipped. Reports an error if there are too many of them. */
export function workerFindings(state: ClusterState): Finding[] {
  const { hosts, reachableHosts, maxUnavailableWorkers, unreachableWorkers } = state
  const restarts = reachableHosts.some((host) => isWorker(host) && isNodeDisrupted(host))
  // Unreachable workers count as unavailable. If workers have to restart, at least one more must be allowed
  // to be unavailable.
  const needed = unreachableWorkers.length + (restarts ? 1 : 0)
  if (unreachableWorkers.length > 0 && needed > maxUnavailableWorkers)
    return [tooManyUnreachable(unreachableWorkers, maxUnavailableWorkers, needed)]
  return hosts.filter((host) => isWorker(host) && !host.reachable && !isMember(host)).map(skippedWorker)
}

/** True for etcd members. workerFindings leaves them out, because controlPlaneFindings reports them. */
function isMember({ member, live }: RolloutHost): boolean {
  return member || live.member
}

function skippedWorker({ name }: RolloutHost): Finding {
  return {
    code: 'ROLLOUT_WORKER_SKIPPED',
    severity: 'warning',
    message: 'unreachable and skipped; the other hosts are changed',
    hint: 'when the host is reachable again: hyperkube up',
    host: name,
  }
}

function tooManyUnreachable(unreachable: readonly string[], max: number, needed: number): Finding {
  const count = `${unreachable.length} ${unreachable.length === 1 ? 'worker is' : 'workers are'} unreachable (${formatNames(unreachable)})`
  return {
    code: 'ROLLOUT_TOO_MANY_UNREACHABLE',
    severity: 'error',
    message: `${count}; spec.rollout.maxUnavailable allows ${max}${unreachable.length > max ? '' : ', so no other worker can restart'}`,
    hint: `make them reachable, remove them: hyperkube node remove HOST, or set spec.rollout.maxUnavailable to ${needed}`,
  }
}
