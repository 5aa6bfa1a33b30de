import type { Finding } from '../contract/finding.ts'
import { type EtcdMember, type EtcdObservation, formatMember, unknownMember } from './member.ts'
import { currentQuorum } from './quorum.ts'

/** Lists the problems of an etcd cluster, worst first. */
export function checkEtcdHealth(observed: EtcdObservation): Finding[] {
  return [quorumFindings, alarmFindings, memberFindings, sizeFindings, versionFindings].flatMap((rule) =>
    rule(observed),
  )
}

function quorumFindings({ members, health, confirmed }: EtcdObservation): Finding[] {
  // A quorum has confirmed the member list. Members that look unhealthy may only be unreachable from here.
  if (confirmed) return []
  const { voters, healthy, needed } = currentQuorum(members, health)
  const message = `etcd has no quorum: ${healthy} of ${voters} voters are healthy, and ${needed} are needed`
  const hint = 'make more members healthy; if they are lost permanently: hyperkube etcd recover'
  return [finding('ETCD_NO_QUORUM', 'error', message, { hint })]
}

function alarmFindings({ members, alarms }: EtcdObservation): Finding[] {
  return alarms.map(({ memberId, alarm }) => {
    const member = members.find(({ id }) => id === memberId)
    const title = member === undefined ? memberId : formatMember(member)
    if (memberId === unknownMember && alarm === 'CORRUPT') {
      const message = 'the data of the members differs, and etcd does not know which member is damaged'
      const hint = 'restore a snapshot from before the damage: hyperkube etcd snapshot list'
      return finding('ETCD_ALARM_CORRUPT', 'error', message, { hint })
    }
    return alarm === 'NOSPACE'
      ? finding(
          'ETCD_ALARM_SPACE',
          'error',
          `${title} has exceeded its space quota, and etcd accepts no writes`,
          withHost(member),
        )
      : finding(
          'ETCD_ALARM_CORRUPT',
          'error',
          `the data of ${title} differs from the other members`,
          withHost(member),
        )
  })
}

function memberFindings({ members, health, statuses }: EtcdObservation): Finding[] {
  const newest = Math.max(0, ...[...statuses.values()].map(({ raftIndex }) => raftIndex))
  return members.flatMap((member): Finding[] => {
    const { live = false, ready = false, reason = 'not checked' } = health.get(member.id) ?? {}
    const title = formatMember(member)
    if (member.clientUrls.length === 0) {
      return [finding('ETCD_MEMBER_UNSTARTED', 'warning', `${title} is a member, but has never started`)]
    }
    if (!live)
      return [
        finding('ETCD_MEMBER_UNREACHABLE', 'warning', `${title} is unhealthy: ${reason}`, withHost(member)),
      ]
    if (member.learner) {
      return [
        finding('ETCD_LEARNER', 'warning', `${title} is still a learner and does not vote`, withHost(member)),
      ]
    }
    if (!ready)
      return [finding('ETCD_MEMBER_UNREADY', 'warning', `${title} cannot serve: ${reason}`, withHost(member))]
    const behind = newest - (statuses.get(member.id)?.raftAppliedIndex ?? newest)
    if (behind <= maxRaftLag) return []
    return [finding('ETCD_BEHIND', 'warning', `${title} is ${behind} entries behind`, withHost(member))]
  })
}

/**
 * Maximum number of raft entries that a member may be behind the newest entry. A member with more unapplied
 * entries than this rejects requests.
 */
const maxRaftLag = 5000

const fullThreshold = 0.8

function sizeFindings({ members, statuses }: EtcdObservation): Finding[] {
  return members.flatMap((member) => {
    const { sizeInUse, quota } = statuses.get(member.id) ?? {}
    if (sizeInUse === undefined || quota === undefined || sizeInUse < quota * fullThreshold) return []
    const share = Math.floor((sizeInUse / quota) * 100)
    return [
      finding(
        'ETCD_SPACE',
        'warning',
        `${formatMember(member)} has used ${share}% of its space quota`,
        withHost(member),
      ),
    ]
  })
}

/**
 * Warns about members with different minor versions. Different versions are normal only during an upgrade.
 * New etcd features stay off until all members are upgraded.
 */
function versionFindings({ statuses }: EtcdObservation): Finding[] {
  const minors = new Set(
    [...statuses.values()].map(({ version }) => version.split('.').slice(0, 2).join('.')),
  )
  if (minors.size < 2) return []
  const message = `members have different versions: ${[...minors].toSorted().join(', ')}`
  return [finding('ETCD_VERSIONS', 'warning', message)]
}

function withHost(member: EtcdMember | undefined): Partial<Finding> {
  return member === undefined || member.name === '' ? {} : { host: member.name }
}

function finding(
  code: string,
  severity: Finding['severity'],
  message: string,
  more: Partial<Finding> = {},
): Finding {
  return { code, severity, message, component: 'etcd', ...more }
}
