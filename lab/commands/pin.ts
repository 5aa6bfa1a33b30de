import type { Command } from 'commander'
import { pin } from '../components/pin.ts'
import { terminalReport } from '../report.ts'

export function pinCommand(parent: Command): void {
  parent
    .command('pin')
    .description('pin another version of an engine part, after the pattern of the one that is there')
    .argument('<part>')
    .argument('<version>', 'as its module is tagged: v3.7.4')
    .option('--force', 'also when it is pinned already')
    .action(async (part: string, version: string, options: { force?: true }) => {
      const directory = await terminalReport().step(`pin ${part} ${version}`, async () =>
        pin(part, version, options),
      )
      process.stdout.write(`${directory}\n`)
      process.stderr.write('now name the version in lab/engine/parts.ts and build it\n')
    })
}
