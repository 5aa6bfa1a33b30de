import type { Command } from 'commander'
import { findLab } from './open-lab.ts'

export function crashCommand(parent: Command): void {
  parent
    .command('crash')
    .description('end all processes of a host at once; its disk keeps what the kernel had accepted')
    .argument('<host>')
    .action(async (name: string, _options: unknown, command: Command) => {
      await (await (await findLab(command)).host(name)).crash()
    })
}
