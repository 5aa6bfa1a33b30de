import type { Finding } from '../contract/finding.ts'
import { formatNames } from '../rollout/format-names.ts'

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
      message: `there are ${sides.size} etcds: ${texts.join(' | ')}`,
      hint: 'hosts that were left out when etcd was recovered do not belong to it any more: hyperkube reset --limit HOST,…',
    },
  ]
}
