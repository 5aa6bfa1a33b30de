import type { Finding } from '../contract/finding.ts'
import { quorum } from './quorum.ts'
import { type Scene, stayingMembers } from './cluster-state.ts'
import { list } from './format-names.ts'

/** What is lost with hosts that leave, and what keeps them from leaving. */
export function leaveFindings(scene: Scene): Finding[] {
  return [...memoryFindings(scene), ...lostFindings(scene)]
}

/** A cluster's memory must be with somebody who stays. */
function memoryFindings(scene: Scene): Finding[] {
  const { leaving, votersAway, hosts, birth } = scene
  const going = leaving.filter(({ live }) => live.member).map(({ host }) => host)
  if (going.length === 0 || birth.etcd) return []
  const staying = stayingMembers(scene)
  const away = new Set(votersAway)
  const well = staying.filter((name) => !away.has(name)).length
  const needed = quorum(staying.length)
  if (hosts.some(({ member, answers }) => member && answers) && well >= needed) return []
  return [
    {
      code: 'ROLLOUT_QUORUM',
      severity: 'error',
      message: `without ${list(going)}, ${well} of ${staying.length} members of etcd would be well, and ${needed} are needed`,
      hint: 'bring the others back first; one host at a time may leave',
    },
  ]
}

function lostFindings({ leaving }: Scene): Finding[] {
  return leaving
    .filter(({ answers }) => !answers)
    .map(({ host }) => ({
      code: 'ROLLOUT_HOST_LOST',
      severity: 'warning',
      message:
        'does not answer, and is taken out of the cluster without its help; what runs there is taken for dead',
      hint: 'make sure that it is off for good: it still has its keys, and is reset by nobody',
      host,
    }))
}
