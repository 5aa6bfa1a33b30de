import type { Finding } from '../contract/finding.ts'
import { list } from '../rollout/format-names.ts'

/**
 * Whether there is more than one etcd, by the id that each host's member says: whoever was left out of a recovery and has power
 * again still remembers the former one, and with enough of its members goes on with it.
 */
export function tornEtcd(ids: ReadonlyMap<string, string>): Finding[] {
  const sides = Map.groupBy(ids.keys(), (host) => ids.get(host))
  if (sides.size < 2) return []
  const words = [...sides.values()].map((hosts) => list(hosts))
  return [
    {
      code: 'ETCD_TORN',
      severity: 'error',
      message: `there are ${sides.size} etcds: ${words.join(' | ')}`,
      hint: 'hosts that were left out when etcd was recovered do not belong to it any more: hyperkube reset --limit HOST,…',
    },
  ]
}
