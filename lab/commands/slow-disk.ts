import type { Command } from 'commander'
import { findLab } from './open-lab.ts'
import { parsePositiveInteger } from './numbers.ts'

export function slowDiskCommand(parent: Command): void {
  parent
    .command('slow-disk')
    .description('limit the writes per second of a host’s disk (needs up --disk loop)')
    .argument('<host>')
    .argument('[writes-per-second]', 'limit; without it, the limit is removed', parsePositiveInteger)
    .action(async (name: string, writes: number | undefined, _options: unknown, command: Command) => {
      await (await (await findLab(command)).host(name)).slowDisk(writes ?? 0)
    })
}
