import type { Finding } from '../contract/finding.ts'
import { type Member, type Observation, titleOf } from './member.ts'
import { quorumNow } from './quorum.ts'

/** What is wrong with etcd, the worst first. */
export function clusterHealth(observed: Observation): Finding[] {
  return [quorumFindings, alarmFindings, memberFindings, sizeFindings, versionFindings].flatMap((rule) =>
    rule(observed),
  )
}

function quorumFindings({ members, health, confirmed }: Observation): Finding[] {
  const { kept, voters, well, needed } = quorumNow(members, health)
  if (kept && confirmed) return []
  const message = `etcd has no quorum: ${well} of ${voters} voters are well, and ${needed} are needed`
  const hint = 'bring members back; if they are lost for good: hyperkube etcd recover'
  return [finding('ETCD_NO_QUORUM', 'error', message, { hint })]
}

function alarmFindings({ members, alarms }: Observation): Finding[] {
  return alarms.map(({ memberId, alarm }) => {
    const member = members.find(({ id }) => id === memberId)
    const title = member === undefined ? memberId : titleOf(member)
    return alarm === 'NOSPACE'
      ? finding(
          'ETCD_ALARM_SPACE',
          'error',
          `${title} has no space left, and etcd takes no more writes`,
          about(member),
        )
      : finding('ETCD_ALARM_CORRUPT', 'error', `${title} knows something else than the others`, about(member))
  })
}

function memberFindings({ members, health, statuses }: Observation): Finding[] {
  const newest = Math.max(0, ...[...statuses.values()].map(({ raftIndex }) => raftIndex))
  return members.flatMap((member): Finding[] => {
    const { live = false, ready = false, reason = 'was not asked' } = health.get(member.id) ?? {}
    const title = titleOf(member)
    if (member.clientUrls.length === 0) {
      return [finding('ETCD_MEMBER_UNSTARTED', 'warning', `${title} is a member, and has never started`)]
    }
    if (!live)
      return [finding('ETCD_MEMBER_AWAY', 'warning', `${title} is not well: ${reason}`, about(member))]
    if (member.learner) {
      return [finding('ETCD_LEARNER', 'warning', `${title} still learns, and does not vote`, about(member))]
    }
    if (!ready)
      return [finding('ETCD_MEMBER_UNREADY', 'warning', `${title} cannot serve: ${reason}`, about(member))]
    const behind = newest - (statuses.get(member.id)?.raftAppliedIndex ?? newest)
    if (behind <= mostBehind) return []
    return [finding('ETCD_BEHIND', 'warning', `${title} is ${behind} entries behind`, about(member))]
  })
}

/** With more, etcd itself takes no requests. */
const mostBehind = 5000

const full = 0.8

function sizeFindings({ members, statuses }: Observation): Finding[] {
  return members.flatMap((member) => {
    const { sizeInUse, quota } = statuses.get(member.id) ?? {}
    if (sizeInUse === undefined || quota === undefined || sizeInUse < quota * full) return []
    const share = Math.floor((sizeInUse / quota) * 100)
    return [
      finding('ETCD_SPACE', 'warning', `${titleOf(member)} has used ${share}% of its space`, about(member)),
    ]
  })
}

/** So it is for moments during an upgrade. For longer, new features wait, and going back becomes harder. */
function versionFindings({ statuses }: Observation): Finding[] {
  const minors = new Set(
    [...statuses.values()].map(({ version }) => version.split('.').slice(0, 2).join('.')),
  )
  if (minors.size < 2) return []
  const message = `members are of several versions: ${[...minors].toSorted().join(', ')}`
  return [finding('ETCD_VERSIONS', 'warning', message)]
}

function about(member: Member | undefined): Partial<Finding> {
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
