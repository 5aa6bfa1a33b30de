import type { Finding } from '../contract/finding.ts'
import { isNodeDisrupted } from './node-steps.ts'
import { type RolloutHost, isWorker } from './host.ts'
import type { ClusterState } from './cluster-state.ts'
import { formatNames } from './format-names.ts'

/** Unreachable workers are skipped, up to the maximum of unavailable workers. */
export function workerFindings(state: ClusterState): Finding[] {
  const { hosts, reachableHosts, maxUnavailableWorkers, unreachableWorkers } = state
  const restarts = reachableHosts.some((host) => isWorker(host) && isNodeDisrupted(host))
  // Unreachable workers use up the slots of those that would restart. Without a free slot none could restart.
  const needed = unreachableWorkers.length + (restarts ? 1 : 0)
  if (unreachableWorkers.length > 0 && needed > maxUnavailableWorkers)
    return [tooManyUnreachable(unreachableWorkers, maxUnavailableWorkers, needed)]
  return hosts.filter((host) => isWorker(host) && !host.reachable && !isMember(host)).map(skippedWorker)
}

/** An etcd member has a finding of its own. */
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
