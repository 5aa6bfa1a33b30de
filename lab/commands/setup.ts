import type { Command } from 'commander'
import { installPackages, requirePrerequisites } from '../prerequisites.ts'
import { terminalReport } from '../report.ts'

export function setupCommand(parent: Command): void {
  parent
    .command('setup')
    .description('install the Debian packages that the lab uses, and check the rest')
    .action(async () => {
      await installPackages(terminalReport())
      await requirePrerequisites()
      process.stdout.write('this machine can run a lab\n')
    })
}
