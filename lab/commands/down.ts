import type { Command } from 'commander'
import { openLab } from './open-lab.ts'

export function downCommand(parent: Command): void {
  parent
    .command('down')
    .description('remove the lab from the machine, whatever state it is in')
    .action(async (_options: unknown, command: Command) => {
      await (await openLab(command)).down()
    })
}
