import type { Command } from 'commander'
import { findLab } from './open-lab.ts'

export function statusCommand(parent: Command): void {
  parent
    .command('status')
    .description('list hosts and their state')
    .action(async (_options: unknown, command: Command) => {
      const lab = await findLab(command)
      const hosts = await lab.hosts()
      if (hosts.length === 0) {
        process.stderr.write(`lab ${lab.name} has no hosts; npm run lab -- up 2\n`)
        return
      }
      for (const host of hosts) {
        const state = (await host.isRunning()) ? 'running' : 'stopped'
        const droppedSources = await host.readDroppedSources()
        const suffix =
          droppedSources.length === 0 ? '' : `  receives nothing from ${droppedSources.join(', ')}`
        process.stdout.write(`${host.name}  ${host.address}  ${state}  ${host.disk.kind}${suffix}\n`)
      }
    })
}
