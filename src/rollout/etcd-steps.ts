import { bearsLoss } from './quorum.ts'
import { type Host, isDisturbed, isTouched, namesOf } from './host.ts'
import { joiningMembers, type Scene } from './cluster-state.ts'
import { type Gate, type Step, step } from './step.ts'

/**
 * All members together at birth; later one after the other. New ones join before old ones restart: with them etcd bears
 * more, and one that does not come up stops the run while everything else is as it was.
 */
export function etcdSteps(scene: Scene): Step[] {
  return scene.birth.etcd ? born(scene) : [...joined(scene), ...changed(scene)]
}

/** Also of members that were born before and are silent now: alone, none of them would become well. */
function born({ answering, silent }: Scene): Step[] {
  const members = answering.filter(({ member }) => member)
  const hosts = namesOf(members.filter((host) => isTouched(host, 'etcd') || silent.includes(host.name)))
  if (hosts.length === 0) return []
  return [step({ hosts, stage: 'etcd', after: [{ kind: 'etcd-healthy', members: namesOf(members) }] })]
}

/** Also a member with nothing left to do, whose run was cut before it could vote. etcd takes one learner at a time. */
function joined(scene: Scene): Step[] {
  const joining = namesOf(joiningMembers(scene))
  return joining.map((host, index) => {
    const members = [...scene.voters, ...joining.slice(0, index)].toSorted()
    return step({
      hosts: [host],
      stage: 'etcd',
      // etcd takes no new member while an old one is not well.
      before: [{ kind: 'etcd-healthy', members }],
      after: [{ kind: 'etcd-member-promoted', host }],
    })
  })
}

function changed(scene: Scene): Step[] {
  const { answering, voters, votersAway, leader } = scene
  const members = [...voters, ...namesOf(joiningMembers(scene))].toSorted()
  const away = new Set(votersAway)
  const well: Gate = { kind: 'etcd-healthy', members: members.filter((name) => !away.has(name)) }
  const turns = answering.filter((host) => host.live.member && isTouched(host, 'etcd'))
  return leaderLast(turns, leader).map((host) => {
    const disruptive = isDisturbed(host, 'etcd')
    const kept: Gate = bearsLoss(members.length)
      ? { kind: 'etcd-quorum-without', host: host.name, members }
      : well
    return step({
      hosts: [host.name],
      stage: 'etcd',
      before: disruptive ? [kept] : [],
      after: [well],
      disruptive,
    })
  })
}

/** So that leadership moves once, to a member that stays. */
function leaderLast(hosts: readonly Host[], leader: string | undefined): Host[] {
  return [...hosts.filter(({ name }) => name !== leader), ...hosts.filter(({ name }) => name === leader)]
}
