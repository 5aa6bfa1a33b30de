import type { Finding } from '../contract/finding.ts'
import { quorum } from './quorum.ts'
import { isDisturbed, namesOf } from './host.ts'
import { joiningMembers, type Scene } from './cluster-state.ts'
import { list } from './format-names.ts'

/** What would cost etcd its quorum. */
export function etcdFindings(scene: Scene): Finding[] {
  return scene.birth.etcd ? birthFindings(scene) : liveFindings(scene)
}

/** Whether members that were born before only have to be started: they are enough, also without those that are away. */
export function isAsleep({ hosts, silent }: Scene): boolean {
  return silent.length >= quorum(hosts.filter(({ member }) => member).length)
}

function birthFindings(scene: Scene): Finding[] {
  const { hosts, birth } = scene
  if (isAsleep(scene)) return []
  if (!birth.controlPlanes || !birth.nodes) {
    const message =
      'the cluster has hosts, but no member of its etcd is known; a new etcd would know nothing of it'
    return [refused(message, 'hyperkube etcd snapshot restore')]
  }
  return hosts
    .filter(({ member, answers }) => member && !answers)
    .map(({ name }) => ({
      ...refused('does not answer, and a cluster is founded with all members of its etcd', leaveOut(name)),
      host: name,
    }))
}

function liveFindings(scene: Scene): Finding[] {
  const { voters, votersAway, answering } = scene
  const [away] = votersAway
  if (away === undefined) return []
  const well = voters.length - votersAway.length
  const needed = quorum(voters.length)
  const silent = `${list(votersAway)} ${votersAway.length === 1 ? 'does' : 'do'} not answer`
  if (well < needed) {
    const message = `etcd has no quorum: ${silent}, and ${needed} of ${voters.length} members are needed`
    return [refused(message, 'bring them back; if they are lost for good: hyperkube etcd recover')]
  }
  const joining = namesOf(joiningMembers(scene))
  if (joining.length > 0) {
    // etcd itself refuses; and a voter more would raise the quorum while one is missing.
    return [refused(`${list(joining)} cannot join etcd while ${silent}`, takeOut(away))]
  }
  const restarts = answering.some((host) => host.live.member && isDisturbed(host, 'etcd'))
  if (!restarts || well - 1 >= needed) return []
  const message = `${silent}: a restart of etcd would leave ${well - 1} of ${voters.length} members, and ${needed} are needed`
  return [refused(message, takeOut(away))]
}

function refused(message: string, hint: string): Finding {
  return { code: 'ROLLOUT_QUORUM', severity: 'error', message, hint }
}

/** Of a host that is not part of the cluster yet. */
export function leaveOut(host: string): string {
  return `bring it back, or take ${host} out of cluster.yml; then: hyperkube up`
}

export function takeOut(host: string): string {
  return `bring it back, then: hyperkube up; if it is lost for good: hyperkube node remove ${host}`
}
