import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { buildEngine } from '../components/build.ts'
import { flagsFile } from '../components/flags-file.ts'
import { flagsOf, partsWithFlags } from '../components/flags.ts'
import { partId, selectParts } from '../components/parts.ts'
import { terminalReport } from '../report.ts'

const root = join(import.meta.dirname, '../..')

export function flagsCommand(parent: Command): void {
  parent
    .command('flags')
    .description('ask the engine’s programs for their flags, and write them down for the catalog')
    .action(async () => {
      const [report, cache] = [terminalReport(), cacheDirectory()]
      for (const built of await buildEngine(selectParts(partsWithFlags), { cache, report })) {
        const flags = await report.step(`ask ${partId(built.part)}`, async () => flagsOf(built, cache))
        const { path, text } = flagsFile(built.part, flags)
        await writeFile(join(root, path), text)
        process.stdout.write(`${path}\n`)
      }
    })
}
