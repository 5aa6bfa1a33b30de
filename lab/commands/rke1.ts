import { type Command, Option } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { parseShape } from '../cluster/shape.ts'
import { selectParts } from '../components/parts.ts'
import { openMirror } from '../mirror/open-mirror.ts'
import { terminalReport } from '../report.ts'
import { type Rke1Network, rke1Networks } from '../rke1/config.ts'
import { listRke1Parts, startRke1Cluster } from '../rke1/rke1-cluster.ts'
import { abortOnInterrupt } from './interrupt.ts'
import { openLab } from './open-lab.ts'

export function rke1Command(parent: Command): void {
  parent
    .command('rke1')
    .description('start hosts with Docker and a cluster of RKE1, and leave them running')
    .argument('[shape]', 'control planes + workers', '1+1')
    .addOption(new Option('--network <name>', 'pod network').choices(rke1Networks).default('flannel'))
    .action(async (shape: string, { network }: { network: Rke1Network }, command: Command) => {
      parseShape(shape)
      const lab = await openLab(command)
      const report = terminalReport()
      const cache = cacheDirectory()
      const parts = selectParts(listRke1Parts(network))
      const mirror = await openMirror(lab, { parts, cache, report, port: 0 })
      try {
        const options = { shape, network, mirror: mirror.address, cache, report, signal: abortOnInterrupt() }
        const { directory } = await startRke1Cluster(lab, options)
        report.line(`cluster.yml and cluster.rkestate of RKE1: ${directory}`)
        report.line('try: npm run lab -- kubectl get nodes -o wide')
      } finally {
        await mirror.close()
      }
    })
}
