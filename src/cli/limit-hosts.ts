import { InvalidArgumentError } from 'commander'
import { HyperkubeError } from '../kit/errors.ts'
import { nearest } from '../kit/suggest.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Host } from '../spec/host.ts'

/** What stands after --limit; given twice, it is one list. */
export function limitFlag(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('write it as cp1,w1')
  return [...new Set([...before, ...names])]
}

/** The hosts that a command shall act on, in the order of the file: all, or those that are named. */
export function limitHosts({ spec }: Cluster, names: readonly string[] | undefined): readonly Host[] {
  return limitTo(spec.hosts, ({ name }) => name, names)
}

/** The same of whatever has the name of a host. */
export function limitTo<T>(
  all: readonly T[],
  nameOf: (one: T) => string,
  names: readonly string[] | undefined,
): readonly T[] {
  if (names === undefined) return all
  const known = all.map(nameOf)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw unknownHosts(unknown, known)
  return all.filter((one) => names.includes(nameOf(one)))
}

function unknownHosts(unknown: readonly string[], known: readonly string[]): HyperkubeError {
  const guesses = new Set(unknown.flatMap((name) => nearest(name, known) ?? []))
  return new HyperkubeError('LIMIT_UNKNOWN_HOST', `the cluster has no host ${unknown.join(', ')}`, {
    hint: guesses.size > 0 ? `did you mean ${[...guesses].join(', ')}?` : `it has ${known.join(', ')}`,
  })
}
