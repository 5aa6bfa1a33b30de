import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { buildComponents } from '../components/build.ts'
import { renderFlagsFile, type VersionFlags } from '../components/flags-file.ts'
import { readFlags, selectPartsWithFlags } from '../components/flags.ts'
import { formatPartId } from '../components/parts.ts'
import { terminalReport } from '../report.ts'

const root = join(import.meta.dirname, '../..')

export function flagsCommand(parent: Command): void {
  parent
    .command('flags')
    .description('read the flags of the upstream programs and write them to the catalog')
    .action(async () => {
      const [report, cache] = [terminalReport(), cacheDirectory()]
      const built = await buildComponents(selectPartsWithFlags(), { cache, report })
      for (const [name, parts] of Map.groupBy(built, ({ part }) => part.name)) {
        const versions: VersionFlags[] = []
        for (const one of parts) {
          const flags = await report.step(`read the flags of ${formatPartId(one.part)}`, async () =>
            readFlags(one, cache),
          )
          versions.push({ version: one.part.version, flags })
        }
        const { path, text } = renderFlagsFile(name, versions)
        await writeFile(join(root, path), text)
        process.stdout.write(`${path}\n`)
      }
    })
}
