import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { quorumSize } from '../../kit/quorum.ts'
import { formatNames } from '../../kit/text.ts'
import { isMemberOf, type KnownEtcdMember } from './membership.ts'

/**
 * Reports an etcd that cannot regain quorum by itself, because too few voters are on reachable hosts.
 * `members` is the member list as one member reports it, because without quorum etcd confirms no list.
 * Nothing is reported if enough voters are reachable: etcd was then only stopped or is about to elect a
 * leader.
 */
export function checkLostQuorum(
  members: readonly KnownEtcdMember[],
  plans: readonly Pick<NodePlan, 'host' | 'address'>[],
): Finding[] {
  const voters = members.filter(({ learner }) => !learner)
  const unreachable = voters.filter(
    (member) => !plans.some(({ host, address }) => isMemberOf({ name: host, address })(member)),
  )
  const needed = quorumSize(voters.length)
  if (unreachable.length === 0 || voters.length - unreachable.length >= needed) return []
  const names = formatNames(unreachable.map(({ name, peerUrls }) => name || (peerUrls[0] ?? '')))
  return [
    {
      code: 'ROLLOUT_QUORUM',
      severity: 'error',
      message: `etcd has no quorum without ${names}: ${needed} of ${voters.length} members are needed`,
      hint: 'make their hosts reachable and list them in cluster.yml; if they are lost permanently: hyperkube etcd recover',
    },
  ]
}

/**
 * Checks whether hosts run more than one etcd cluster, by the cluster id of each member. A host that missed a
 * recovery still has data of the previous cluster. With enough such hosts, the previous cluster starts again.
 */
export function checkEtcdSplitBrain(ids: ReadonlyMap<string, string>): Finding[] {
  const sides = Map.groupBy(ids.keys(), (host) => ids.get(host))
  if (sides.size < 2) return []
  const texts = [...sides.values()].map((hosts) => formatNames(hosts))
  return [
    {
      code: 'ETCD_SPLIT_BRAIN',
      severity: 'error',
      message: `the hosts run ${sides.size} separate etcd clusters: ${texts.join(' | ')}`,
      hint: 'reset the hosts that were skipped when etcd was recovered: hyperkube reset --limit HOST,…',
    },
  ]
}
