import { z } from 'zod'
import { collectFacts } from '../../agent/facts/collect.ts'
import { hostname } from '../../agent/facts/linux/names.ts'
import type { FactSource } from '../../agent/facts/source.ts'
import { thisMachine } from '../../agent/facts/this-machine.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { factsText } from '../facts/text.ts'
import { print } from '../print.ts'

const flags = z.object({ host: z.string().optional() })

/** Where the command runs, and as whom. */
export interface Place {
  readonly platform: NodeJS.Platform
  readonly root: boolean
  readonly source: FactSource
}

export const facts: CommandDefinition = factsCommand(() => ({
  platform: process.platform,
  root: process.getuid?.() === 0,
  source: thisMachine(),
}))

export function factsCommand(place: () => Place): CommandDefinition {
  return {
    examples: [
      ['hyperkube facts', 'what this host is and has, in short'],
      [
        'ssh root@10.0.0.11 hyperkube facts --host cp1 -o json > facts/cp1.json',
        'for hyperkube plan --facts',
      ],
    ],
    configure(command) {
      command.option('--host <name>', 'what cluster.yml calls this host (default: its own name)')
    },
    async run({ stdout }, { options }) {
      const here = place()
      refuseElsewhere(here)
      const { host = await hostname(here.source) } = flags.parse(options)
      const found = await collectFacts(here.source, host)
      print(stdout, options.output, found, () => factsText(found))
      return exitCodes.ok
    },
  }
}

function refuseElsewhere({ platform, root }: Place): void {
  if (platform === 'win32') {
    throw new HyperkubeError('FACTS_NO_WINDOWS', 'this release takes no facts on Windows; a later one will')
  }
  if (platform !== 'linux') {
    throw new HyperkubeError('FACTS_NOT_TAKEN', `no node of a cluster runs ${platform}`, {
      hint: 'run it on a host of the cluster',
    })
  }
  if (!root) {
    throw new HyperkubeError('FACTS_NOT_ROOT', 'only root sees all of a host', {
      hint: 'sudo hyperkube facts',
    })
  }
}
