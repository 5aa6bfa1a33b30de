import type { Command } from 'commander'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { findLab } from './open-lab.ts'

export function partitionCommand(parent: Command): void {
  parent
    .command('partition')
    .description('cut a host off from others (default: from all), both ways')
    .argument('<host>')
    .argument('[others...]')
    .option('--one-way', 'only packets from the host are lost; it still receives packets')
    .action(async (name: string, others: string[], options: { oneWay?: true }, command: Command) => {
      const lab = await findLab(command)
      const host = await lab.host(name)
      const all = (await lab.hosts()).filter((other) => other.name !== name)
      const targets =
        others.length === 0 ? all : await Promise.all(others.map(async (other) => lab.host(other)))
      if (targets.length === 0) {
        throw new HyperkubeError('NOTHING_TO_CUT', `${name} is the only host of lab ${lab.name}`, {
          hint: 'npm run lab -- up 2',
        })
      }
      await lab.partition(host, targets, { oneWay: options.oneWay === true })
    })
}
