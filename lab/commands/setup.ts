import type { Command } from 'commander'
import {
  installPackages,
  installReleaseTools,
  requireBuildTools,
  requireHostTools,
} from '../prerequisites.ts'
import { terminalReport } from '../report.ts'

export function setupCommand(parent: Command): void {
  parent
    .command('setup')
    .description('install the Debian packages that the lab needs, and check the other prerequisites')
    .option('--release', 'also install the packages that `npm run release` needs')
    .action(async ({ release }: { release?: true }) => {
      await installPackages(terminalReport())
      if (release === true) await installReleaseTools(terminalReport())
      await requireHostTools()
      await requireBuildTools()
      process.stdout.write('this machine can run a lab\n')
    })
}
