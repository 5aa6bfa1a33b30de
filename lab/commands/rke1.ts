import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { parseShape } from '../cluster/shape.ts'
import { selectParts } from '../components/parts.ts'
import { openMirror } from '../mirror/open-mirror.ts'
import { terminalReport } from '../report.ts'
import { rke1Part, startRke1Cluster } from '../rke1/rke1-cluster.ts'
import { abortOnInterrupt } from './interrupt.ts'
import { openLab } from './open-lab.ts'

export function rke1Command(parent: Command): void {
  parent
    .command('rke1')
    .description('start hosts with Docker and a cluster of RKE1, and leave them running')
    .argument('[shape]', 'control planes + workers', '1+1')
    .action(async (shape: string, _options: unknown, command: Command) => {
      parseShape(shape)
      const lab = await openLab(command)
      const report = terminalReport()
      const cache = cacheDirectory()
      const mirror = await openMirror(lab, { parts: selectParts([rke1Part]), cache, report, port: 0 })
      try {
        const options = { shape, mirror: mirror.address, cache, report, signal: abortOnInterrupt() }
        const { directory } = await startRke1Cluster(lab, options)
        report.line(`cluster.yml and cluster.rkestate of RKE1: ${directory}`)
        report.line('try: npm run lab -- kubectl get nodes -o wide')
      } finally {
        await mirror.close()
      }
    })
}
