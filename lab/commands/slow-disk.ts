import type { Command } from 'commander'
import { findLab } from './open-lab.ts'
import { positiveInteger } from './numbers.ts'

export function slowDiskCommand(parent: Command): void {
  parent
    .command('slow-disk')
    .description('limit how many writes a second a host’s disk does (needs up --disk loop)')
    .argument('<host>')
    .argument('[writes-per-second]', 'how many; none: full speed again', positiveInteger)
    .action(async (name: string, writes: number | undefined, _options: unknown, command: Command) => {
      await (await (await findLab(command)).host(name)).slowDisk(writes ?? 0)
    })
}
