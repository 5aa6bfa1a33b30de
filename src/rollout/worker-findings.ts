import type { Finding } from '../contract/finding.ts'
import { isLoud } from './node-steps.ts'
import { type Host, isWorker } from './host.ts'
import type { Scene } from './cluster-state.ts'
import { list } from './format-names.ts'

/** Workers that do not answer are left behind, up to a number. */
export function workerFindings(scene: Scene): Finding[] {
  const { hosts, answering, mayBeAway, workersAway } = scene
  const waiting = answering.some((host) => isWorker(host) && isLoud(host))
  // Those that are away take the places of those that would restart; with none left, nobody could.
  const needed = workersAway.length + (waiting ? 1 : 0)
  if (workersAway.length > 0 && needed > mayBeAway) return [tooMany(workersAway, mayBeAway, needed)]
  return hosts.filter((host) => isWorker(host) && !host.answers && !isMember(host)).map(skippedFinding)
}

/** Of such a host more has been said. */
function isMember({ member, live }: Host): boolean {
  return member || live.member
}

function skippedFinding({ name }: Host): Finding {
  return {
    code: 'ROLLOUT_WORKER_SKIPPED',
    severity: 'warning',
    message: 'left behind, and the others go on',
    hint: 'when it answers: hyperkube up',
    host: name,
  }
}

function tooMany(away: readonly string[], most: number, needed: number): Finding {
  const count = `${away.length} ${away.length === 1 ? 'worker does' : 'workers do'} not answer (${list(away)})`
  return {
    code: 'ROLLOUT_TOO_MANY_UNREACHABLE',
    severity: 'error',
    message: `${count}; ${most} may be away at once${away.length > most ? '' : ', so that no other one can restart'}`,
    hint: `bring them back, take them out: hyperkube node remove, or set spec.rollout.maxUnavailable to ${needed}`,
  }
}
