import type { Command } from 'commander'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { cacheDirectory } from '../cache.ts'
import { buildEngine, reportedVersion } from '../engine/build.ts'
import { partId, parts, selectParts } from '../engine/parts.ts'
import { terminalReport } from '../report.ts'

export function engineCommand(lab: Command): void {
  lab
    .command('engine')
    .description('compile the engine from upstream’s sources into the cache')
    .argument(
      '[parts...]',
      'parts such as etcd, kubernetes@v1.36.4, windows, all; default: all not on request',
    )
    .option('--list', 'say which parts there are, and build nothing')
    .option('--versions', 'ask every program for its version')
    .action(async (names: string[], options: { list?: true; versions?: true }) => {
      if (options.list === true) {
        for (const part of parts) {
          process.stdout.write(`${partId(part)}${part.onRequest ? '  (on request)' : ''}\n`)
        }
        return
      }
      const selected = selectParts(names)
      if (selected.unknown.length > 0) {
        throw new HyperkubeError('UNKNOWN_PART', `there is no part ${selected.unknown.join(', ')}`, {
          hint: 'npm run lab -- engine --list',
        })
      }
      const built = await buildEngine(selected.parts, { cache: cacheDirectory(), report: terminalReport() })
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
