import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Command } from 'commander'
import { fileExists } from '../../src/kit/files.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { labKubeconfigPath } from '../bench/bare-cluster.ts'
import { cacheDirectory } from '../cache.ts'
import { buildComponents } from '../components/build.ts'
import { kubernetesVersions, selectParts } from '../components/parts.ts'
import { terminalReport } from '../report.ts'
import { findLab } from './open-lab.ts'

export function kubectlCommand(parent: Command): void {
  parent
    .command('kubectl')
    .description('run kubectl for the cluster of this lab')
    .argument('[arguments...]')
    .passThroughOptions()
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args: string[], _options: unknown, command: Command) => {
      const lab = await findLab(command)
      const config = labKubeconfigPath(lab)
      if (!(await fileExists(config))) {
        throw new HyperkubeError('NO_CLUSTER', `lab ${lab.name} has no cluster`, {
          hint: `npm run lab -- --lab ${lab.name} cluster 1+1`,
        })
      }
      const parts = selectParts([`kubernetes@${kubernetesVersions[0]}`])
      const [built] = await buildComponents(parts, { cache: cacheDirectory(), report: terminalReport() })
      const child = spawn(join(built?.directory ?? '', 'kubectl'), args, {
        stdio: 'inherit',
        env: { ...process.env, KUBECONFIG: config },
      })
      const [code] = await once(child, 'exit')
      process.exitCode = Number(code ?? 1)
    })
}
