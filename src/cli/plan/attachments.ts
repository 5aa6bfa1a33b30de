import { dirname, join } from 'node:path'
import { hasCode } from '../../kit/errors.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext } from '../command.ts'

/**
 * Reads the files that cluster.yml refers to, by the paths in cluster.yml. A missing file is left out and
 * becomes a finding later.
 */
export async function readAttachments(
  { readFile }: Pick<CommandContext, 'readFile'>,
  clusterFile: string,
  { spec }: Cluster,
): Promise<ReadonlyMap<string, string>> {
  const { policy } = spec.security.audit
  const names = new Set([
    ...(policy === undefined ? [] : [policy]),
    ...spec.hosts.flatMap(({ files }) => files.flatMap(({ source }) => source ?? [])),
  ])
  const read = [...names].map(async (name) => {
    try {
      return [[name, await readFile(join(dirname(clusterFile), name))] as const]
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return []
      throw error
    }
  })
  return new Map((await Promise.all(read)).flat())
}
