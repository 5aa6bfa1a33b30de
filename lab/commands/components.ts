import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { buildEngine, reportedVersion } from '../components/build.ts'
import { partId, parts, selectParts } from '../components/parts.ts'
import { terminalReport } from '../report.ts'

export function engineCommand(parent: Command): void {
  parent
    .command('engine')
    .description('compile the engine from upstream’s sources into the cache')
    .argument('[parts...]', 'such as etcd, kubernetes@v1.36.4, windows, all; default: all not on request')
    .option('--list', 'say which parts there are, and build nothing')
    .option('--versions', 'ask every program for its version')
    .action(async (names: string[], options: { list?: true; versions?: true }) => {
      if (options.list === true) {
        const lines = parts.map((part) => `${partId(part)}${part.onRequest ? '  (on request)' : ''}\n`)
        process.stdout.write(lines.join(''))
        return
      }
      const built = await buildEngine(selectParts(names), {
        cache: cacheDirectory(),
        report: terminalReport(),
      })
      for (const one of built) {
        process.stdout.write(`${partId(one.part)}  ${one.directory}\n`)
        if (options.versions !== true || one.part.os === 'windows') continue
        for (const program of one.part.programs) {
          const [line = ''] = (await reportedVersion(one, program)).split('\n')
          process.stdout.write(`  ${program.name}: ${line}\n`)
        }
      }
    })
}
