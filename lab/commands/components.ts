import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { buildComponents, readReportedVersion } from '../components/build.ts'
import { formatPartId, parts, selectParts } from '../components/parts.ts'
import { terminalReport } from '../report.ts'

export function componentsCommand(parent: Command): void {
  parent
    .command('components')
    .description('compile the upstream components from source into the cache')
    .argument(
      '[parts...]',
      'such as etcd, kubernetes@v1.36.4, windows, all; default: all that are not on request',
    )
    .option('--list', 'list all parts and build nothing')
    .option('--versions', 'print the version of every program')
    .action(async (names: string[], options: { list?: true; versions?: true }) => {
      if (options.list === true) {
        const lines = parts.map((part) => `${formatPartId(part)}${part.onRequest ? '  (on request)' : ''}\n`)
        process.stdout.write(lines.join(''))
        return
      }
      const built = await buildComponents(selectParts(names), {
        cache: cacheDirectory(),
        report: terminalReport(),
      })
      for (const component of built) {
        process.stdout.write(`${formatPartId(component.part)}  ${component.directory}\n`)
        if (options.versions !== true || component.part.os === 'windows') continue
        for (const program of component.part.programs) {
          const [line = ''] = (await readReportedVersion(component, program)).split('\n')
          process.stdout.write(`  ${program.name}: ${line}\n`)
        }
      }
    })
}
