import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { duration } from '../../src/kit/duration.ts'
import { versionsFor } from '../bare/artifacts.ts'
import { bare } from '../bare/bare.ts'
import { kubeconfig } from '../bare/configs.ts'
import { parseShape } from '../bare/shape.ts'
import { runTrial } from '../bench/trial.ts'
import { cacheDirectory } from '../cache.ts'
import { type KubernetesVersion, kubernetesVersions, selectParts } from '../engine/parts.ts'
import { openMirror } from '../mirror/open.ts'
import { terminalReport } from '../report.ts'
import { openLab } from './open.ts'

export function clusterCommand(parent: Command): void {
  parent
    .command('cluster')
    .description('start hosts and the bare engine on them, and leave them running')
    .argument('[shape]', 'control planes + workers', '1+1')
    .addOption(
      new Option('--kubernetes <version>').choices(kubernetesVersions).default(kubernetesVersions[0]),
    )
    .action(async (text: string, options: { kubernetes: KubernetesVersion }, command: Command) => {
      const shape = parseShape(text)
      const lab = await openLab(command)
      const report = terminalReport()
      const mirror = await openMirror(lab, { parts: selectParts([]).parts, cache: cacheDirectory(), report })
      try {
        const versions = versionsFor(options.kubernetes)
        const trial = await report.step(`cluster ${text}, Kubernetes ${options.kubernetes}`, async () =>
          runTrial({ contender: bare, shape, lab, mirror: mirror.address, versions }),
        )
        for (const [milestone, time] of trial.times) report.line(`  ${milestone}: ${duration(time)}`)
        const server = `https://${(await lab.host('cp1')).address}:6443`
        const file = join(lab.directory, 'kubeconfig')
        await writeFile(file, kubeconfig(server, trial.access.api.authority, trial.access.api), {
          mode: 0o600,
        })
        report.line('try: npm run lab -- kubectl get nodes -o wide')
      } finally {
        await mirror.close()
      }
    })
}
