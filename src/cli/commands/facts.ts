import { hostname as machineName } from 'node:os'
import { z } from 'zod'
import { collectFacts } from '../../agent/facts/collect.ts'
import { hostname } from '../../agent/facts/linux/names.ts'
import type { FactSource } from '../../agent/facts/source.ts'
import { thisMachine } from '../../agent/facts/local-source.ts'
import { bareWindowsFacts } from '../../agent/facts/windows/basic.ts'
import { collectWindowsFacts } from '../../agent/facts/windows/collect.ts'
import type { BareSource } from '../../agent/facts/windows/source.ts'
import { thisWindows } from '../../agent/windows/host/this-windows.ts'
import type { BareFacts } from '../../contract/basic-facts.ts'
import type { Facts } from '../../contract/facts.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { bareFactsText, factsText } from '../facts/format-facts.ts'
import { print } from '../print.ts'
import { windowsNumbers } from '../windows/system-info.ts'

const flags = z.object({ host: z.string().optional(), baseDirectory: z.string() })

/** Where the command runs, and as whom. */
export interface Place {
  readonly platform: NodeJS.Platform
  readonly root: boolean
  readonly source: FactSource
  /** The facts of a Windows host; all of ours is below a directory. */
  readonly windows: (base: string, host?: string) => Promise<WindowsAnswer>
}

/** Where not all could be asked: what is known nevertheless, and why no more. */
export type WindowsAnswer = Facts | { readonly bare: BareFacts; readonly because: unknown }

export const facts: CommandDefinition = factsCommand(() => ({
  platform: process.platform,
  root: process.getuid?.() === 0,
  source: thisMachine(),
  async windows(base, host = machineName().toLowerCase()) {
    await using windows = await thisWindows()
    return await askWindows({ ...windowsNumbers(), operations: windows.host, base }, host)
  },
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
      command
        .option('--host <name>', 'what cluster.yml calls this host (default: its own name)')
        .option(
          '--base-directory <directory>',
          'on Windows: below which all of ours is',
          String.raw`C:\hyperkube`,
        )
    },
    async run({ stdout }, { options }) {
      const here = place()
      refuseElsewhere(here)
      const { host, baseDirectory } = flags.parse(options)
      const found =
        here.platform === 'win32'
          ? await here.windows(baseDirectory, host)
          : await collectFacts(here.source, host ?? (await hostname(here.source)))
      if ('bare' in found) {
        print(stdout, options.output, found.bare, () => bareFactsText(found.bare))
        throw found.because
      }
      print(stdout, options.output, found, () => factsText(found))
      return exitCodes.ok
    },
  }
}

/** A host whose PowerShell does not answer is one that somebody has to look into: so it is told what can be told. */
export async function askWindows(source: BareSource, host: string): Promise<WindowsAnswer> {
  return collectWindowsFacts(source, host).catch(async (because: unknown) => {
    const bare = await bareWindowsFacts(source, host).catch(() => undefined)
    if (bare === undefined) throw because
    return { bare, because }
  })
}

function refuseElsewhere({ platform, root }: Place): void {
  if (platform === 'win32') return
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
