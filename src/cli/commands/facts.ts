import { hostname as machineName } from 'node:os'
import { z } from 'zod'
import { collectFacts } from '../../agent/facts/collect.ts'
import { readHostname } from '../../agent/facts/linux/names.ts'
import type { FactSource } from '../../agent/facts/source.ts'
import { createLocalFactSource } from '../../agent/facts/local-source.ts'
import { collectBasicWindowsFacts } from '../../agent/facts/windows/basic.ts'
import { collectWindowsFacts } from '../../agent/facts/windows/collect.ts'
import type { BasicWindowsFactSource } from '../../agent/facts/windows/source.ts'
import { thisWindows } from '../../agent/windows/host/this-windows.ts'
import type { BasicFacts } from '../../contract/basic-facts.ts'
import type { Facts } from '../../contract/facts.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { formatBasicFacts, formatFacts } from '../facts/format-facts.ts'
import { printResult } from '../print.ts'
import { readWindowsSystemInfo } from '../windows/system-info.ts'

const flags = z.object({ host: z.string().optional(), baseDirectory: z.string() })

/** Properties of the machine and of the user who runs the command. */
export interface FactsEnvironment {
  readonly platform: NodeJS.Platform
  readonly isRoot: boolean
  readonly source: FactSource
  /** Reads the facts of a Windows host; `base` is hyperkube's directory on it. */
  readonly windows: (base: string, host?: string) => Promise<WindowsFactsResult>
}

/** Complete facts, or the basic facts and the reason why the rest is missing. */
export type WindowsFactsResult = Facts | { readonly bare: BasicFacts; readonly because: unknown }

export const factsCommand: CommandDefinition = createFactsCommand(() => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  source: createLocalFactSource(),
  async windows(base, host = machineName().toLowerCase()) {
    await using windows = await thisWindows()
    return await readWindowsFacts({ ...readWindowsSystemInfo(), operations: windows.host, base }, host)
  },
}))

export function createFactsCommand(detectEnvironment: () => FactsEnvironment): CommandDefinition {
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
      const environment = detectEnvironment()
      requireLinuxRoot(environment)
      const { host, baseDirectory } = flags.parse(options)
      const result =
        environment.platform === 'win32'
          ? await environment.windows(baseDirectory, host)
          : await collectFacts(environment.source, host ?? (await readHostname(environment.source)))
      if ('bare' in result) {
        printResult(stdout, options.output, result.bare, () => formatBasicFacts(result.bare))
        throw result.because
      }
      printResult(stdout, options.output, result, () => formatFacts(result))
      return exitCodes.ok
    },
  }
}

/**
 * Reads the facts of a Windows host. If PowerShell does not respond, it returns the basic facts, which still
 * help to diagnose the host.
 */
export async function readWindowsFacts(
  source: BasicWindowsFactSource,
  host: string,
): Promise<WindowsFactsResult> {
  return collectWindowsFacts(source, host).catch(async (because: unknown) => {
    const bare = await collectBasicWindowsFacts(source, host).catch(() => undefined)
    if (bare === undefined) throw because
    return { bare, because }
  })
}

function requireLinuxRoot({ platform, isRoot }: FactsEnvironment): void {
  if (platform === 'win32') return
  if (platform !== 'linux') {
    throw new HyperkubeError('FACTS_NOT_TAKEN', `no node of a cluster runs ${platform}`, {
      hint: 'run it on a host of the cluster',
    })
  }
  if (!isRoot) {
    throw new HyperkubeError('FACTS_NOT_ROOT', 'only root sees all of a host', {
      hint: 'sudo hyperkube facts',
    })
  }
}
