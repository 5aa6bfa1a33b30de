import { type Command, Option } from 'commander'
import { duration } from '../../src/kit/duration.ts'
import { startBareCluster } from '../bench/bare-cluster.ts'
import { cacheDirectory } from '../cache.ts'
import { parseShape } from '../cluster/shape.ts'
import { type KubernetesVersion, kubernetesVersions } from '../components/parts.ts'
import { terminalReport } from '../report.ts'
import { interrupted } from './interrupt.ts'
import { openLab } from './open-lab.ts'

export function clusterCommand(parent: Command): void {
  parent
    .command('cluster')
    .description('start hosts and the bare engine on them, and leave them running')
    .argument('[shape]', 'control planes + workers', '1+1')
    .addOption(
      new Option('--kubernetes <version>', 'which')
        .choices(kubernetesVersions)
        .default(kubernetesVersions[0]),
    )
    .action(async (shape: string, { kubernetes }: { kubernetes: KubernetesVersion }, command: Command) => {
      parseShape(shape)
      const lab = await openLab(command)
      const report = terminalReport()
      const wish = { shape, kubernetes, cache: cacheDirectory(), report, signal: interrupted() }
      const { api, times } = await startBareCluster(lab, wish)
      api.close()
      for (const [milestone, time] of times) report.line(`  ${milestone}: ${duration(time)}`)
      report.line('try: npm run lab -- kubectl get nodes -o wide')
    })
}
