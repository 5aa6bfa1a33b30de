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
  const files = new Map<string, Promise<readonly KnownHostsLine[]>>()
  const read = async (file: string): Promise<readonly KnownHostsLine[]> => {
    const lines = files.get(file) ?? readLines(file)
    files.set(file, lines)
    return lines
  }
  return async ({ knownHosts }) =>
    knownHosts === undefined
      ? noKnownHostKeys
      : findKnownHost((await Promise.all(knownHosts.files.map(read))).flat(), knownHosts.name)
}

async function readLines(file: string): Promise<readonly KnownHostsLine[]> {
  try {
    return parseKnownHosts(await readFile(file, 'utf8'))
  } catch (error) {
    // Missing and unreadable files are skipped, as in ssh: their keys are then unknown, never accepted.
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR'].some((code) => hasCode(error, code))) return []
    throw error
  }
}
