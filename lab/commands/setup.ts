import type { Command } from 'commander'
import { installPackages, requireForEngine, requireForHosts } from '../prerequisites.ts'
import { terminalReport } from '../report.ts'

export function setupCommand(parent: Command): void {
  parent
    .command('setup')
    .description('install the Debian packages that the lab uses, and check the rest')
    .action(async () => {
      await installPackages(terminalReport())
      await requireForHosts()
      await requireForEngine()
      process.stdout.write('this machine can run a lab\n')
    })
}
