import type { Command } from 'commander'
import { installPackages, requireBuildTools, requireHostTools } from '../prerequisites.ts'
import { terminalReport } from '../report.ts'

export function setupCommand(parent: Command): void {
  parent
    .command('setup')
    .description('install the Debian packages that the lab needs, and check the other prerequisites')
    .action(async () => {
      await installPackages(terminalReport())
      await requireHostTools()
      await requireBuildTools()
      process.stdout.write('this machine can run a lab\n')
    })
}
