import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { selectParts } from '../components/parts.ts'
import { openMirror } from '../mirror/open-mirror.ts'
import { terminalReport } from '../report.ts'
import { openLab } from './open-lab.ts'

export function mirrorCommand(parent: Command): void {
  parent
    .command('mirror')
    .description(
      'serve the upstream components on the lab’s bridge, with the paths of upstream’s download sites',
    )
    .argument('[parts...]', 'as for components; missing parts are built first')
    .action(async (names: string[], _options: unknown, command: Command) => {
      const parts = selectParts(names)
      const lab = await openLab(command)
      const mirror = await openMirror(lab, { parts, cache: cacheDirectory(), report: terminalReport() })
      process.stdout.write(`${mirror.address}\n`)
      process.stderr.write('serving until interrupted\n')
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void mirror.close())
    })
}
