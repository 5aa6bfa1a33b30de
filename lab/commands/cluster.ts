import { type Command, Option } from 'commander'
import { formatDuration } from '../../src/kit/time-format.ts'
import { startBareCluster } from '../bench/bare-cluster.ts'
import { cacheDirectory } from '../cache.ts'
import { parseShape } from '../cluster/shape.ts'
import { type KubernetesVersion, kubernetesVersions } from '../components/parts.ts'
import { terminalReport } from '../report.ts'
import { abortOnInterrupt } from './interrupt.ts'
import { openLab } from './open-lab.ts'

export function clusterCommand(parent: Command): void {
  parent
    .command('cluster')
    .description('start hosts with a bare cluster of upstream components, and leave them running')
    .argument('[shape]', 'control planes + workers', '1+1')
    .addOption(
      new Option('--kubernetes <version>', 'Kubernetes version')
        .choices(kubernetesVersions)
        .default(kubernetesVersions[0]),
    )
    .action(async (shape: string, { kubernetes }: { kubernetes: KubernetesVersion }, command: Command) => {
      parseShape(shape)
      const lab = await openLab(command)
      const report = terminalReport()
      const options = { shape, kubernetes, cache: cacheDirectory(), report, signal: abortOnInterrupt() }
      const { api, times } = await startBareCluster(lab, options)
      api.close()
      for (const [milestone, time] of times) report.line(`  ${milestone}: ${formatDuration(time)}`)
      report.line('try: npm run lab -- kubectl get nodes -o wide')
    })
}
