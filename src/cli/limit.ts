import { InvalidArgumentError } from 'commander'
import { HyperkubeError } from '../kit/errors.ts'
import { nearest } from '../kit/nearest.ts'
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
  if (names === undefined) return spec.hosts
  const known = spec.hosts.map(({ name }) => name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw unknownHosts(unknown, known)
  return spec.hosts.filter(({ name }) => names.includes(name))
}

function unknownHosts(unknown: readonly string[], known: readonly string[]): HyperkubeError {
  const guesses = new Set(unknown.flatMap((name) => nearest(name, known) ?? []))
  return new HyperkubeError('LIMIT_UNKNOWN_HOST', `the cluster has no host ${unknown.join(', ')}`, {
    hint: guesses.size > 0 ? `did you mean ${[...guesses].join(', ')}?` : `it has ${known.join(', ')}`,
  })
}
