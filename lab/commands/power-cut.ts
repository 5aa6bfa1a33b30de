import type { Command } from 'commander'
import { findLab } from './open-lab.ts'

export function powerCutCommand(parent: Command): void {
  parent
    .command('power-cut')
    .description('crash a host and lose all that it had not synced (needs up --disk loop)')
    .argument('<host>')
    .action(async (name: string, _options: unknown, command: Command) => {
      await (await (await findLab(command)).host(name)).powerCut()
    })
}
