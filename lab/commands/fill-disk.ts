import type { Command } from 'commander'
import { findLab } from './open-lab.ts'

export function fillDiskCommand(parent: Command): void {
  parent
    .command('fill-disk')
    .description('use all space of a host’s disk (needs up --disk loop)')
    .argument('<host>')
    .option('--empty', 'free the space again')
    .action(async (name: string, options: { empty?: true }, command: Command) => {
      const host = await (await findLab(command)).host(name)
      await (options.empty === true ? host.emptyDisk() : host.fillDisk())
    })
}
