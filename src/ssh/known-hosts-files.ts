import { readFile } from 'node:fs/promises'
import { hasCode } from '../kit/errors.ts'
import type { Hop } from './hop.ts'
import {
  findKnownHost,
  type KnownHostKeys,
  type KnownHostsLine,
  noKnownHostKeys,
  parseKnownHosts,
} from './known-hosts.ts'

export type FindKnownHostKeys = (hop: Pick<Hop, 'knownHosts'>) => Promise<KnownHostKeys>

/** Creates a lookup in the operator's known_hosts files. Each file is read once. */
export function createKnownHostsLookup(): FindKnownHostKeys {
  const files = new Map<string, Promise<FindLines>>()
  const read = async (file: string): Promise<FindLines> => {
    const lines = files.get(file) ?? readLines(file).then(indexLines)
    files.set(file, lines)
    return lines
  }
  return async ({ knownHosts }) => {
    if (knownHosts === undefined) return noKnownHostKeys
    const { name } = knownHosts
    const lookups = await Promise.all(knownHosts.files.map(read))
    return findKnownHost(
      lookups.flatMap((find) => find(name)),
      name,
    )
  }
}

/** Returns the lines of a file that may match a name. */
type FindLines = (name: string) => readonly KnownHostsLine[]

/**
 * Indexes lines by name, because a file may have a line for each of thousands of hosts. Lines are found in
 * the order of the file. Lines with patterns or hashed names may match any name.
 */
export function indexLines(lines: readonly KnownHostsLine[]): FindLines {
  const byName = new Map<string, number[]>()
  const others: number[] = []
  for (const [index, { names }] of lines.entries()) {
    if (names === undefined) others.push(index)
    for (const name of names ?? []) {
      const known = byName.get(name)
      if (known === undefined) byName.set(name, [index])
      else known.push(index)
    }
  }
  return (name) =>
    [...(byName.get(name) ?? []), ...others].toSorted((a, b) => a - b).flatMap((index) => lines[index] ?? [])
}

async function readLines(file: string): Promise<readonly KnownHostsLine[]> {
  try {
    return parseKnownHosts(await readFile(file, 'utf8'))
  } catch (error) {
    // Missing and unreadable files are skipped, as in ssh. This is safe, because the keys in these files only
    // become unknown.
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR'].some((code) => hasCode(error, code))) return []
    throw error
  }
}
