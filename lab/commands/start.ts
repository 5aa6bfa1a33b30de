import type { Command } from 'commander'
import { findLab } from './open-lab.ts'

export function startCommand(parent: Command): void {
  parent
    .command('start')
    .description('start a host again after crash or power-cut')
    .argument('<host>')
    .action(async (name: string, _options: unknown, command: Command) => {
      await (await findLab(command)).start(name)
    })
}
