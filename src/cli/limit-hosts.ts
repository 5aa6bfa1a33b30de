import { InvalidArgumentError } from 'commander'
import { HyperkubeError } from '../kit/errors.ts'
import { suggestWord } from '../kit/suggest.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'

/** Parses the value of --limit. Repeated flags are combined. */
export function parseLimitFlag(text: string, previous: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('write it as cp1,w1')
  return [...new Set([...previous, ...names])]
}

/**
 * Selects the hosts with these names, or all hosts, in the order of cluster.yml. Throws for unknown names.
 */
export function limitHosts({ spec }: Cluster, names: readonly string[] | undefined): readonly HostSpec[] {
  return limitByName(spec.hosts, ({ name }) => name, names)
}

/** Selects items that are named after hosts, like `limitHosts`. */
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
  return new HyperkubeError('LIMIT_UNKNOWN_HOST', `the cluster has no host ${unknown.join(', ')}`, {
    hint:
      suggestions.size > 0 ? `did you mean ${[...suggestions].join(', ')}?` : `it has ${known.join(', ')}`,
  })
}
