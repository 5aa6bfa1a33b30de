import type { Command } from 'commander'
import { pinVersion } from '../components/pin.ts'
import { terminalReport } from '../report.ts'

export function pinCommand(parent: Command): void {
  parent
    .command('pin')
    .description('pin another version of a part, based on the version that is pinned')
    .argument('<part>')
    .argument('<version>', 'as its module is tagged: v3.7.4')
    .option('--force', 'even if it is pinned already')
    .action(async (part: string, version: string, options: { force?: true }) => {
      const directory = await terminalReport().step(`pin ${part} ${version}`, async () =>
        pinVersion(part, version, options),
      )
      process.stdout.write(`${directory}\n`)
      process.stderr.write('now add the version to lab/components/parts.ts and build it\n')
    })
}
