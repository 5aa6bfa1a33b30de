import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { buildComponents } from '../components/build.ts'
import { crdsFile, readCrds } from '../components/crds.ts'
import { selectParts } from '../components/parts.ts'
import { terminalReport } from '../report.ts'

export function crdsCommand(parent: Command): void {
  parent
    .command('crds')
    .description('write the CRDs of MetalLB from upstream’s sources to src/addons/built-in')
    .action(async () => {
      const [built] = await buildComponents(selectParts(['metallb']), {
        cache: cacheDirectory(),
        report: terminalReport(),
      })
      const crds = built === undefined ? [] : await readCrds(built)
      await writeFile(crdsFile, `${JSON.stringify(crds, undefined, 2)}\n`)
      process.stdout.write(crds.map(({ metadata }) => `${metadata.name}\n`).join(''))
    })
}
