import type { Command } from 'commander'
import { findLab } from './open-lab.ts'

export function statusCommand(parent: Command): void {
  parent
    .command('status')
    .description('say which hosts there are and how they are')
    .action(async (_options: unknown, command: Command) => {
      const lab = await findLab(command)
      const hosts = await lab.hosts()
      if (hosts.length === 0) {
        process.stderr.write(`lab ${lab.name} has no hosts; npm run lab -- up 2\n`)
        return
      }
      for (const host of hosts) {
        const state = (await host.isRunning()) ? 'running' : 'stopped'
        const unheard = await host.unheard()
        const cut = unheard.length === 0 ? '' : `  hears nothing from ${unheard.join(', ')}`
        process.stdout.write(`${host.name}  ${host.address}  ${state}  ${host.disk.kind}${cut}\n`)
      }
    })
}
