import type { Finding } from '../contract/finding.ts'
import { isNodeDisrupted } from './node-steps.ts'
import { type RolloutHost, isWorker } from './host.ts'
import type { ClusterState } from './cluster-state.ts'
import { formatNames } from './format-names.ts'

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

/** True for etcd members, whose findings come from controlPlaneFindings. */
function isMember({ member, live }: RolloutHost): boolean {
  return member || live.member
}

function skippedWorker({ name }: RolloutHost): Finding {
  return {
    code: 'ROLLOUT_WORKER_SKIPPED',
    severity: 'warning',
    message: 'left behind, and the others go on',
    hint: 'when it answers: hyperkube up',
    host: name,
  }
}

function tooManyUnreachable(unreachable: readonly string[], max: number, needed: number): Finding {
  const count = `${unreachable.length} ${unreachable.length === 1 ? 'worker does' : 'workers do'} not answer (${formatNames(unreachable)})`
  return {
    code: 'ROLLOUT_TOO_MANY_UNREACHABLE',
    severity: 'error',
    message: `${count}; ${max} may be away at once${unreachable.length > max ? '' : ', so that no other one can restart'}`,
    hint: `bring them back, take them out: hyperkube node remove, or set spec.rollout.maxUnavailable to ${needed}`,
  }
}
