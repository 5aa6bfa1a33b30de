import type { Command } from 'commander'
import { findLab } from './open-lab.ts'

export function rejoinCommand(parent: Command): void {
  parent
    .command('rejoin')
    .description('remove every partition')
    .action(async (_options: unknown, command: Command) => {
      await (await findLab(command)).rejoin()
    })
}
