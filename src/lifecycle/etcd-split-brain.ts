import type { Finding } from '../contract/finding.ts'
import { formatNames } from '../rollout/format-names.ts'

/**
 * Checks for more than one etcd, by the cluster id that each member reports. A host that was left out of a
 * recovery and comes back still has the previous etcd, and continues it if enough of its members are up.
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
