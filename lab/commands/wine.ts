import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { installWine } from '../prerequisites.ts'
import { terminalReport } from '../report.ts'
import { buildExecutableInWine } from '../wine/executable.ts'
import { fetchWindowsNode, nodeVersion } from '../wine/node-for-windows.ts'
import { createWine } from '../wine/wine.ts'

export function wineCommand(parent: Command): void {
  parent
    .command('wine')
    .description('run hyperkube for Windows in Wine, which is installed if missing (Debian)')
    .argument('[arguments...]', 'arguments of hyperkube; default: version')
    .passThroughOptions()
    .action(async (args: string[]) => {
      const report = terminalReport()
      await installWine(report)
      const node = await fetchWindowsNode(cacheDirectory(), report)
      await using wine = await report.step('make a drive C:', createWine)
      report.line(`${wine.version}, Node ${nodeVersion}`)
      const program = await report.step('make hyperkube.exe', async () => buildExecutableInWine(wine, node))
      const programArgs = args.length === 0 ? ['version'] : args
      const { code, stdout, stderr } = await wine.run([program, ...programArgs], { allowFailure: true })
      process.stdout.write(stdout)
      process.stderr.write(stderr)
      process.exitCode = code
    })
}
