import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { installWine } from '../prerequisites.ts'
import { terminalReport } from '../report.ts'
import { executableInWine } from '../wine/executable.ts'
import { nodeForWindows, nodeVersion } from '../wine/node-for-windows.ts'
import { newWine } from '../wine/wine.ts'

export function wineCommand(parent: Command): void {
  parent
    .command('wine')
    .description('run hyperkube for Windows in Wine, which is installed if it is missing (Debian)')
    .argument('[arguments...]', 'what hyperkube is told; default: version')
    .passThroughOptions()
    .action(async (args: string[]) => {
      const report = terminalReport()
      await installWine(report)
      const node = await nodeForWindows(cacheDirectory(), report)
      await using wine = await report.step('make a drive C:', newWine)
      report.line(`${wine.version}, Node ${nodeVersion}`)
      const program = await report.step('make hyperkube.exe', async () => executableInWine(wine, node))
      const told = args.length === 0 ? ['version'] : args
      const { code, stdout, stderr } = await wine.run([program, ...told], { allowFailure: true })
      process.stdout.write(stdout)
      process.stderr.write(stderr)
      process.exitCode = code
    })
}
