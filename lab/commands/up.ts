import { type Command, Option } from 'commander'
import type { DiskKind } from '../hosts/disk.ts'
import { parsePositiveInteger } from './numbers.ts'
import { openLab } from './open-lab.ts'

export function upCommand(parent: Command): void {
  parent
    .command('up')
    .description('create and start hosts; running hosts are not changed')
    .argument('<hosts...>', 'how many (h1, h2, ...), or their names')
    .addOption(
      new Option('--disk <kind>', 'loop: a disk of its own, for power cuts and disk faults').choices([
        'directory',
        'loop',
      ]),
    )
    .option('--disk-size <gigabytes>', 'size of a loop disk', parsePositiveInteger, 20)
    .action(async (requested: string[], options: { disk?: DiskKind; diskSize: number }, command: Command) => {
      const lab = await openLab(command)
      const hosts = await lab.up(expandHostNames(requested), {
        ...(options.disk === undefined ? {} : { disk: options.disk }),
        diskGigabytes: options.diskSize,
      })
      for (const host of hosts) process.stdout.write(`${host.name}  ${host.address}\n`)
    })
}

/** Expands a single number to host names: `3` becomes h1, h2, h3. Other arguments are host names already. */
function expandHostNames(requested: readonly string[]): readonly string[] {
  const count = requested.length === 1 ? Number(requested[0]) : Number.NaN
  return Number.isInteger(count) && count > 0
    ? Array.from({ length: count }, (_, index) => `h${index + 1}`)
    : requested
}
