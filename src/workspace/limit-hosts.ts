import { HyperkubeError } from '../kit/errors.ts'
import { suggestWord } from '../kit/text.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'

/**
 * Selects the hosts with these names, or all hosts, in the order of cluster.yml. Throws for unknown names.
 */
export function limitHosts({ spec }: Cluster, names: readonly string[] | undefined): readonly HostSpec[] {
  return limitByName(spec.hosts, ({ name }) => name, names)
}

/**
 * Selects the items whose host name is in `names`; all items if `names` is undefined. Throws for unknown
 * names.
 */
export function limitByName<T>(
  all: readonly T[],
  getName: (item: T) => string,
  names: readonly string[] | undefined,
): readonly T[] {
  if (names === undefined) return all
  const known = all.map(getName)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw buildUnknownHostsError(unknown, known)
  return all.filter((item) => names.includes(getName(item)))
}

function buildUnknownHostsError(unknown: readonly string[], known: readonly string[]): HyperkubeError {
  const suggestions = new Set(unknown.flatMap((name) => suggestWord(name, known) ?? []))
  return new HyperkubeError('LIMIT_UNKNOWN_HOST', `cluster.yml has no host ${unknown.join(', ')}`, {
    hint:
      suggestions.size > 0
        ? `did you mean ${[...suggestions].join(', ')}?`
        : `hosts in cluster.yml: ${known.join(', ')}`,
  })
}
