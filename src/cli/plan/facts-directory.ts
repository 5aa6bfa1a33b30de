import { join } from 'node:path'
import { type Facts, factsFormat } from '../../contract/facts.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { CommandContext } from '../command/command.ts'

/** Reads recorded facts from a directory with one file HOST.json per host, and returns them by host name. */
export async function readFacts(
  context: Pick<CommandContext, 'listDirectory' | 'readFile'>,
  directory: string,
): Promise<ReadonlyMap<string, Facts>> {
  const names = await context.listDirectory(directory).catch((cause: unknown) => {
    throw new HyperkubeError('FACTS_NOT_READ', `cannot read the facts in ${directory}`, {
      hint: '--facts needs a directory with a file HOST.json for each host; to record one: hyperkube facts --host HOST -o json, on the host',
      cause,
    })
  })
  const files = names.filter((name) => name.endsWith('.json')).toSorted()
  const all = await Promise.all(
    files.map(async (name) => {
      const file = join(directory, name)
      return { file, facts: parseFacts(file, await context.readFile(file)) }
    }),
  )
  const byHost = new Map<string, Facts>()
  for (const { file, facts } of all) {
    if (byHost.has(facts.host)) {
      throw new HyperkubeError(
        'FACTS_DUPLICATE',
        `${file} has facts of ${facts.host}, but another file has them too`,
        {
          host: facts.host,
          hint: 'delete the older file',
        },
      )
    }
    byHost.set(facts.host, facts)
  }
  return byHost
}

function parseFacts(file: string, text: string): Facts {
  try {
    return readVersioned(factsFormat, JSON.parse(text))
  } catch (cause) {
    throw new HyperkubeError('FACTS_NOT_READ', `${file} does not contain the facts of a host`, {
      hint: 'record the facts again, on the host: hyperkube facts --host HOST -o json',
      cause,
    })
  }
}
