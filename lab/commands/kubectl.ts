import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { buildEngine } from '../engine/build.ts'
import { selectParts } from '../engine/parts.ts'
import { terminalReport } from '../report.ts'
import { openLab } from './open.ts'

export function kubectlCommand(parent: Command): void {
  parent
    .command('kubectl')
    .description('kubectl for the cluster of this lab')
    .argument('[words...]')
    .passThroughOptions()
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: string[], _options: unknown, command: Command) => {
      const lab = await openLab(command)
      const { parts } = selectParts(['kubernetes@v1.37.1'])
      const [built] = await buildEngine(parts, { cache: cacheDirectory(), report: terminalReport() })
      const child = spawn(join(built?.directory ?? '', 'kubectl'), words, {
        stdio: 'inherit',
        env: { ...process.env, KUBECONFIG: join(lab.directory, 'kubeconfig') },
      })
      const [code] = await once(child, 'exit')
      process.exitCode = Number(code ?? 1)
    })
}
