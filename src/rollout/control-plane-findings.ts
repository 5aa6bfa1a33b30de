import type { Finding } from '../contract/finding.ts'
import { isAsleep, leaveOut, takeOut } from './etcd-findings.ts'
import { bearsLoss } from './quorum.ts'
import { type Host, isDisturbed, isTouched, namesOf } from './host.ts'
import { joiningMembers, type Scene } from './cluster-state.ts'
import { list } from './format-names.ts'

/** What is said about control planes, and members of etcd, that do not answer; and when the API has to be away. */
export function controlPlaneFindings(scene: Scene): Finding[] {
  const away = scene.hosts.filter((host) => !host.answers && isNeeded(host))
  return [
    ...away.flatMap((host) => awayFindings(scene, host)),
    ...(away.length === 0 ? pauseFindings(scene) : []),
    ...scene.answering.flatMap(roleFindings),
  ]
}

function isNeeded({ member, controlPlane, live }: Host): boolean {
  return member || controlPlane || live.member || live.controlPlane
}

function awayFindings(scene: Scene, host: Host): Finding[] {
  const { name, member, live } = host
  // Has been said, of etcd as a whole.
  if (scene.birth.etcd && member && !isAsleep(scene)) return []
  const about = { code: 'ROLLOUT_CONTROL_PLANE_UNREACHABLE', host: name }
  const reason = refusal(scene, host)
  if (reason === undefined) {
    const message = 'left behind, and the others go on'
    return [{ ...about, severity: 'warning', message, hint: 'when it answers: hyperkube up' }]
  }
  const hint = live.member || live.controlPlane ? takeOut(name) : leaveOut(name)
  return [{ ...about, severity: 'error', message: `does not answer, and ${reason}`, hint }]
}

/** Why nothing can be done without a host, if so. */
function refusal(scene: Scene, { controlPlane, live }: Host): string | undefined {
  if (scene.birth.controlPlanes && controlPlane) return 'a cluster is founded with all of its control planes'
  if (!live.controlPlane) return undefined
  const restarts = scene.answering.some((host) => host.live.controlPlane && isDisturbed(host, 'api'))
  if (restarts && servers(scene).length < 2) return 'the last API server that does would have to restart'
  // Kubelets must not be newer than the oldest API server.
  return scene.answering.some(({ drain }) => drain)
    ? 'kubelets of another minor version would have to live with its API server'
    : undefined
}

/** Those that serve by the time the first one restarts. */
function servers({ answering }: Scene): readonly Host[] {
  return answering.filter((host) => host.controlPlane && (host.live.controlPlane || isTouched(host, 'api')))
}

/** Where there is only one of a kind, its restart cannot be hidden. */
function pauseFindings(scene: Scene): Finding[] {
  const { answering, voters } = scene
  const members = voters.length + joiningMembers(scene).length
  const etcd = answering.filter(
    (host) => host.live.member && isDisturbed(host, 'etcd') && !bearsLoss(members),
  )
  const api = answering.filter((host) => host.live.controlPlane && isDisturbed(host, 'api'))
  const alone = servers(scene).length < 2 ? api : []
  const hosts = [...new Set(namesOf([...etcd, ...alone]))].toSorted()
  if (hosts.length === 0) return []
  const message = `the API will be away for moments: etcd or the API server restarts on ${list(hosts)}, and no other can stand in`
  return [{ code: 'ROLLOUT_API_AWAY', severity: 'warning', message }]
}

/** A host that shall no longer be what it is has to leave first, else others go on counting on it. */
function roleFindings({ name, member, controlPlane, node, live }: Host): Finding[] {
  const lost = [
    ...(live.member && !member ? ['a member of etcd'] : []),
    ...(live.controlPlane && !controlPlane ? ['a control plane'] : []),
    ...(live.node && !node ? ['a node'] : []),
  ]
  if (lost.length === 0) return []
  return [
    {
      code: 'ROLLOUT_ROLE_REMOVED',
      severity: 'error',
      message: `is ${list(lost)}, and shall no longer be`,
      hint: `hyperkube node remove ${name}, then add it again as what it shall be`,
      host: name,
    },
  ]
}
